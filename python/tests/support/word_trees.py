"""Binary trees of words, rose trees of numbers, and recursive functions on them."""

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


@batch.adt
class Rose:
    class rose:
        value: int
        below: list["Rose"]


rose = Rose.rose(1, [Rose.rose(2, []), Rose.rose(3, [Rose.rose(4, [])])])


@batch.function
def height(r: Rose) -> int:
    return 1 + r.below.map(height).max(axis=0, initial=0)
