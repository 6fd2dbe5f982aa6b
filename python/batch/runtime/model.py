"""Compiled models that are bound to parameters and called with mini-batches."""

from __future__ import annotations

import json
import operator
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy

import batch._native as _native
from batch.runtime.device import parse_device
from batch.runtime.field_values import NUMPY_TYPES, NodeReader, dense_array, list_values
from batch.runtime.model_file import write_model_file
from batch.runtime.parameters import given_parameters
from batch.runtime.ragged import Ragged
from batch.runtime.threads import default_threads

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from batch._native import Cancellation, Field
    from batch.explain.explanation import Explanation
    from batch.runtime.parameters import GivenParameters

_Explainer = TypeVar("_Explainer", bound="Callable[..., Explanation]")

# Maximum values of options. The runtime checks the minimum values.
_MOST = {"threads": 2 ** 31 - 1, "lanes": 2 ** 31 - 1, "max_steps": 2 ** 63 - 1,
         "stack_depth": 2 ** 63 - 1}


def _check_options(options):
    for name, most in _MOST.items():
        value = options[name]
        if value is None and name == "max_steps":
            continue
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"{name} must be an integer, got {value!r}") from None
        if number > most:
            raise ValueError(f"{name} must be at most {most}, got {number}")
        options[name] = max(number, -1)


def session_options(*, threads: int | None = None, lanes: int = 0, max_steps: int | None = None,
                    stack_depth: int = 64, partial_results: bool = False) -> dict[str, Any]:
    """Returns the checked options of a session. See Model.bind()."""
    options = dict(threads=default_threads() if threads is None else threads, lanes=lanes,
                   max_steps=max_steps, stack_depth=stack_depth, partial_results=partial_results)
    _check_options(options)
    return options


_explainers: list[Callable[..., Explanation]] = []


def explain_run(function: Function, *arguments: Any, **named: Any) -> Explanation:
    """Explains a run of a Function with batch.explain.explanation.explain_run()."""
    return _explainers[0](function, *arguments, **named)


def explains(function: _Explainer) -> _Explainer:
    """Registers the function that Function.explain() calls; batch.explain uses it."""
    _explainers[:] = [function]
    return function


class Source(NamedTuple):
    """Module from which a model was compiled.

    arguments: options of the compiler, the first of which is the strategy.
    name: name of the module in error messages.
    """
    text: bytes
    arguments: tuple[str, ...]
    name: str


class Model:
    """Compiled model; batch.compile() returns one.

    device: the device on which the model runs. "cuda:N" runs a model for "cuda" on another GPU.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._model = _native.Model(os.fspath(path))
        with open(path, "rb") as file:
            self.object: bytes = file.read()  # compiled code, which pickles and files contain
        self.parameters: list[Field] = self._model.parameters
        self.arguments: list[Field] = self._model.arguments
        self.outputs: list[Field] = self._model.outputs
        self._variants = self._model.variants
        # Maps each data type to (whether its nodes have at most one parent, its arity or -1).
        descriptor = json.loads(self._model.descriptor)
        self._declared = {adt["name"]: (adt.get("kind") in ("tree", "sequence"),
                                        adt.get("arity", -1)) for adt in descriptor["adts"]}
        launch = descriptor.get("device")
        self.device: str = "cpu" if not launch else "cuda" if launch.get("chip") else "emulator"
        # Location and reason if the compiler found no strategy that batches the program.
        self.not_batched: str = descriptor.get("notBatched", "")
        self.source: Source | None = None  # module from which the model was compiled
        # Returns the compiler's decisions and the name of the text that the compiler read.
        self.decisions: Callable[[], tuple[list[dict[str, Any]], str]] = \
            lambda: ([], os.fspath(path))

    @classmethod
    def of_object(cls, data: bytes) -> Model:
        """Returns the model of an object that is in memory.

        The loader reads a temporary file. Raises batch.Error if this machine cannot run the object.
        """
        with tempfile.NamedTemporaryFile(prefix="batch-", suffix=".so") as file:
            file.write(data)
            file.flush()
            try:
                return cls(file.name)
            except _native.Error as error:
                text = str(error).replace(f"object '{file.name}'", "the object of the model")
                raise _native.Error(text.replace(f"'{file.name}'", "the model")) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file, which batch.load() reads without the compiler.

        The file contains machine code, and the module's text for other CPUs.
        """
        write_model_file(path, self.object, self.source)

    def __repr__(self) -> str:
        def names(fields):
            return ", ".join(f"{f.name}: {f.description}" for f in fields)
        return (f"Model({names(self.arguments)}) -> ({names(self.outputs)}) with parameters "
                f"({names(self.parameters)})")

    def bind(self, parameters: Mapping[str, ArrayLike] | str | os.PathLike[str] | None = None,
             *, threads: int | None = None, lanes: int = 0, max_steps: int | None = None,
             stack_depth: int = 64, partial_results: bool = False,
             bits: bool = False) -> Function:
        """Binds parameters, which are copied once, and returns a Function.

        parameters: {"W": array, ...}, or the path of a safetensors or JSON file.
        threads: number of workers; None: $BATCH_NUM_THREADS, or the number of cores that the
            affinity mask, the CPU quota and $OMP_NUM_THREADS allow.
        lanes: number of instances in progress at once in lockstep; 0: all.
        max_steps: maximum number of rounds of loops and recursive calls for each instance, or of
            blocks in lockstep; None: no limit.
        stack_depth: maximum depth of recursive calls in lockstep.
        partial_results: keep the results of successful instances if others fail. Function.failures
            maps the failed instances to the reasons.
        bits: int16 parameters contain the bits of bfloat16.

        Raises a TypeError if an option is not an integer, and a ValueError if it is too large.
        """
        options = session_options(threads=threads, lanes=lanes, max_steps=max_steps,
                                  stack_depth=stack_depth, partial_results=partial_results)
        if isinstance(parameters, (str, os.PathLike)):
            bound = self._model.read(os.fspath(parameters))
        else:
            given = dict(parameters or {})
            for field in self.parameters:
                if field.name in given and not bits:
                    given[field.name] = dense_array(field, f"parameter {field.name!r}",
                                               given[field.name])
            bound = self._model.bind(given)
            parameters = given
        # Another process has another number of cores.
        given_options = {**options, "threads": None if threads is None else options["threads"]}
        return Function(self, bound, options, BindArguments(
            given_parameters(parameters), given_options))


def read_structures(model, given, reading, instances):
    """Returns the arguments that are data structures, in the runtime's format, and all nodes.

    given: for each argument, by name, a tuple of its values, the location of a value in error
        messages, and whether equal nodes are merged. In the location, "{}" represents the
        instance; "{64}" adds 64 to its number.
    """
    fields = [field for field in model.arguments if field.name in given]
    roots, nodes = _native.read_nodes(
        model._variants,
        [[(field.dtype, field.description) for field in own] for own in reading.fields],
        model._declared, reading,
        [(given[field.name][1], field.data_type, field.lists, given[field.name][2])
         for field in fields],
        [given[field.name][0] for field in fields], instances)
    return dict(zip([field.name for field in fields], roots)), nodes


class BindArguments(NamedTuple):
    """Arguments of Model.bind(), with which another process binds the model again."""
    parameters: GivenParameters
    options: dict[str, Any]


class Function:
    """Model with its parameters; called with a mini-batch.

    Functions are thread-safe: threads that call one concurrently use separate workers.
    """

    def __init__(self, model: Model, parameters: _native.Parameters,
                 options: dict[str, Any], given: BindArguments) -> None:
        self.model: Model = model
        self._parameters = parameters
        self._options = options
        self.given: BindArguments = given
        self.token: str | None = None  # identifies this function in pickles
        self._idle = [self._make()]
        self.failures: dict[int, str] = {}
        self.key: Any = None  # of a program for calls by XLA

    def _make(self) -> _native.Session:
        return _native.Session(self.model._model, self._parameters, **self._options,
                               device_number=parse_device(self.model.device)[1])

    def __call__(self, *arguments: Any, cancellation: Cancellation | None = None,
                 **named: Any) -> dict[str, Any]:
        """Runs a mini-batch and returns {output: array or Ragged}.

        Each argument has a value for each instance: it is an array whose first dimension is
        the number of instances. For lists, it is a list of lists or arrays, a Ragged, or an
        array if all lists are equally long. For data structures, it is a list of tuples such
        as ("node", left, right).

        cancellation: a Cancellation, with which another thread ends the run.

        Ctrl-C also ends the run, and the function can be called again.

        Raises a TypeError if an argument is missing, unknown or of another type. Raises a
        ValueError if arguments have different numbers of instances.
        """
        outputs = self.run(*self._given(arguments, named), cancellation)
        return {field.name: output for field, output in zip(self.model.outputs, outputs)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model and its parameters to a file, which batch.load() reads.

        The file contains machine code, and the module's text for other CPUs. Raises a ValueError
        if the model is bound to a file of parameters that has changed.
        """
        parameters, options = self.given
        write_model_file(path, self.model.object, self.model.source, parameters.value(), options)

    def explain(self, *arguments: Any, **named: Any) -> Explanation:
        """Runs a mini-batch and returns an Explanation.

        It contains the compiler's decisions. For each part of the model, it also contains the
        number of instances that ran the part together.
        """
        return explain_run(self, *self._given(arguments, named))

    def _given(self, arguments, named):
        """Returns the number of instances, their values and their nodes."""
        fields = self.model.arguments
        if len(arguments) > len(fields):
            raise TypeError(f"expected at most {len(fields)} argument"
                            f"{'s' * (len(fields) != 1)}, got {len(arguments)}")
        given = {field.name: value for field, value in zip(fields, arguments)}
        for name, value in named.items():
            if name in given:
                raise TypeError(
                    f"argument {name!r} is given twice; pass it by position or by name")
            if all(field.name != name for field in fields):
                known = ", ".join(repr(field.name) for field in fields)
                raise TypeError(f"unknown argument {name!r}; expected one of {known}")
            given[name] = value
        missing = [field for field in fields if field.name not in given]
        if missing:
            raise TypeError(
                f"argument {missing[0].name!r} ({missing[0].description}) is missing")
        counts: dict[str, Any] = {name: len(value) if hasattr(value, "__len__") else None
                                  for name, value in given.items()}
        if None in counts.values():
            name = next(n for n, count in counts.items() if count is None)
            raise TypeError(f"argument {name!r} has no first dimension; expected a value for each "
                            "instance")
        if len(set(counts.values())) > 1:
            raise ValueError("arguments have different numbers of instances: " +
                             ", ".join(f"{name} {count}" for name, count in counts.items()))
        instances = next(iter(counts.values()), 1)
        return (instances, *self._values(given, instances))

    def _session(self):
        try:
            return self._idle.pop()
        except IndexError:
            return self._make()

    def traced(self, instances: int, values: Sequence[Any],
               nodes: Any = None) -> dict[str, Any]:
        """Runs a mini-batch like run(), and returns the runtime's report of the run."""
        session = self._session()
        try:
            return json.loads(session.run(instances, values, nodes, explained=True))
        finally:
            self._idle.append(session)

    def run(self, instances: int, values: Sequence[Any], nodes: Any = None,
            cancellation: Cancellation | None = None,
            bits: bool = False) -> list[Any]:
        """Runs a mini-batch of arrays and returns a list of outputs.

        values: (elements, [offsets of lists]) for each argument, in order.
        nodes: arrays of the nodes in the runtime's format, or None.
        bits: return bfloat16 outputs as NumPy arrays of dtype int16 with the same bits.
        """
        session = self._session()
        try:
            session.run(instances, values, nodes, cancellation)
            outputs = [self._read(session, number, bits)
                       for number in range(len(self.model.outputs))]
            if self._options["partial_results"]:
                texts = ((i, session.failure(i)) for i in range(instances))
                self.failures = {i: text for i, text in texts if text}
        finally:
            self._idle.append(session)
        return outputs

    def _values(self, given, instances):
        roots, nodes = {}, None
        structured = {
            field.name: (list(given[field.name]),
                         f"argument {field.name!r} of instance {{}}", False)
            for field in self.model.arguments if field.data_type}
        if structured:
            roots, nodes = read_structures(self.model, structured,
                                      NodeReader(self.model._variants), instances)
        return [roots[field.name] if field.name in roots else
                list_values(field, f"argument {field.name!r}", given[field.name])
                for field in self.model.arguments], nodes

    def quick(self, instances: int, reads: Sequence[int], types: list[Any],
              put: Any) -> Any:
        """Returns a native object that performs run() for dense arrays.

        `put` converts the results.
        """
        return _native.Call(self._idle, self._make, instances, reads, types, put)

    def program(self, key: int, outputs: list[int],
                threads: int | None = None) -> _native.XlaProgram:
        """Returns a native program for calls by XLA.

        key: number by which calls find the program. Programs with equal keys must be equal.
        outputs: the outputs that are results of calls.
        threads: number of workers; None: as many as this function has.
        """
        options = {**self._options, "threads": threads or self._options["threads"]}
        return _native.XlaProgram(key, self.model._model, self._parameters, [], outputs,
                                  **options)

    def _read(self, session, number, bits):
        array, offsets = session.read(number, bits)
        if bits or self.model.outputs[number].dtype in NUMPY_TYPES:
            array = numpy.from_dlpack(array)
        return array if offsets is None else Ragged(array, offsets)
