"""Declarations of the data types of a module."""

from batch.core.adt import fields_of, reachable
from batch.core.types import Data, List, Scalar, Tensor, element_of
from batch.lowering.types import element_type
from batch.tracing.primitives import dtype_of


def data_type(data):
    return f"!rec.adt<@{data.__name__}>"


class DataTypes:
    """Declarations of the data types that a program uses.

    constructed: data types whose values the program constructs. Their numbers are tensors.
        Control flow may read the numbers of other data types before any tensor is computed.
    results: types of the program's results, None for arrays. The fields of their data types
        are outputs of the model.
    """

    def __init__(self, constructed, results):
        self.constructed = constructed
        self.results = {data for kind in results if kind
                        for data in reachable(element_of(kind).adt)}
        self.declared = {}
        # It is unknown which data type a list comes from. Therefore, if a constructed type contains
        # a list of numbers, the numbers of all lists are tensors.
        self._numbers_are_tensors = any(
            isinstance(kind, List) and isinstance(element_of(kind), Scalar)
            for data in constructed for fields in fields_of(data)
            for _, kind in fields)

    def declare(self, data):
        if data not in self.declared:
            for other in reachable(data):
                name = other.__name__
                for known in self.declared:
                    if known is not other and known.__name__ == name:
                        raise TypeError(f"two data types of a program have the name {name}; "
                                        "rename one of them")
                self.declared[other] = True
        return data_type(data)

    def field(self, kind, data):
        """Returns the MLIR type of a field of a data type."""
        return self.text(kind, data in self.constructed)

    def text(self, kind, is_tensor=False):
        """Returns the MLIR type of a value. If `is_tensor`, a number is a tensor of rank 0."""
        if isinstance(kind, Data):
            return self.declare(kind.adt)
        if isinstance(kind, List):
            return f"!rec.list<{self.text(kind.element, self._numbers_are_tensors)}>"
        if isinstance(kind, Tensor) or is_tensor:
            return "tensor<{}>".format("x".join(
                [str(n) for n in getattr(kind, "shape", ())] + [element_type(dtype_of(kind))]))
        return element_type(dtype_of(kind))

    def lines(self):
        for data in self.declared:
            yield "  rec.adt @{}{}{} {{".format(
                data.__name__, " kind " + data._kind if data._kind else "",
                "" if data._arity is None else f" arity {data._arity}")
            for variant, fields in zip(data._variants, fields_of(data)):
                name = data.__name__ + "." if data in self.results else ""
                yield "    rec.variant @{}({})".format(variant.__name__, ", ".join(
                    f"{name}{field}: {self.field(kind, data)}"
                    for field, kind in fields))
            yield "  }"
