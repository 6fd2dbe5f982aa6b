"""Trees of words, and functions of them."""

import batch


@batch.adt
class Tree:
    class Leaf:
        word: int

    class Node:
        left: "Tree"
        right: "Tree"


Leaf, Node = Tree.Leaf, Tree.Node
tree = Node(Leaf(1), Node(Leaf(2), Leaf(3)))


@batch.function
def total(tree: Tree):
    match tree:
        case Tree.Leaf(word):
            return word
        case Tree.Node(left, right):
            return total(left) + total(right)


@batch.function
def mirror(tree: Tree) -> Tree:
    match tree:
        case Tree.Leaf(word):
            return Leaf(word + 1)
        case Tree.Node(left, right):
            return Node(mirror(right), mirror(left))
