"""Names and types of the arguments and results of an imported model."""

import re

from batch.core.errors import TextError
from batch.runtime.signature import is_name, parse_functions, string


def _plain(path):
    """Converts a path: params['W'][0].b → params.W.0.b"""
    return re.sub(r"\[(?:'([^']*)'|\"([^\"]*)\"|(\d+))\]",
                  lambda m: "." + next(filter(None, m.groups()), ""), path)


def _entry(text, functions, wanted):
    by_name = {function.name: function for function in functions if function.has_body}
    if not by_name:
        raise TextError(f"{text.file}: error: the module has no function with a body; expected "
                        "`func.func @NAME(…) -> … {`")
    names = ", ".join(by_name)
    if wanted is not None:
        if wanted not in by_name:
            raise TextError(f"{text.file}: error: unknown function '{wanted}' in --entry; expected "
                            f"one of {names}")
        return by_name[wanted]
    public = [f for f in by_name.values() if not f.is_private]
    for choice in ([f for f in by_name.values() if "batch.entry" in f.attributes],
                   [f for f in public if f.name == "main"], public):
        if len(choice) == 1:
            return choice[0]
    raise TextError(f"{text.file}: error: the entry function is ambiguous; specify --entry=NAME "
                    f"with one of {names}")


def _position(text, argument, names, option):
    """Returns the position of an argument that an option names."""
    if argument.isdecimal() and int(argument) < len(names[0]):
        return int(argument)
    for known in names:
        if known.count(argument) == 1:
            return known.index(argument)
    expected = ", ".join(f"{i} ({name})" for i, name in enumerate(names[-1]))
    raise TextError(f"{text.file}: error: unknown argument '{argument}' in {option}; expected one "
                    f"of {expected}")


def _check_names(text, kind, values, names):
    for i, (value, name) in enumerate(zip(values, names)):
        if not is_name(name):
            raise text.error(value.start, f"invalid name {name!r} for {kind} {i}; expected words "
                             "without double quotes or backslashes, separated by single spaces")
        if name in names[:i]:
            option = f"--name={i}=NAME" if kind == "argument" else "--outputs=NAME,..."
            raise text.error(value.start, f"{kind}s {names.index(name)} and {i} are both named "
                             f"'{name}'; specify another name with {option}")


def _names_of_arguments(text, entry, known, options):
    names = []
    for i, argument in enumerate(entry.arguments):
        given = next(filter(None, (string(argument.attributes, attribute)
                                   for attribute in ("batch.name", "batch.shared"))), None)
        own = argument.name or str(i)
        names.append(given or _plain(known[i] if i < len(known) and known[i] else
                                     "arg" + own if own.isdigit() else own))
    before = list(names)
    for option in options.name:
        argument, equals, name = option.rpartition("=")
        if not equals:
            raise TextError(f"{text.file}: error: invalid value '{option}' for --name; expected "
                            "ARG=NAME")
        names[_position(text, argument, [before], "--name")] = name
    shared = {i for i, argument in enumerate(entry.arguments)
              if "batch.shared" in argument.attributes}
    for argument in ",".join(options.shared).split(",") if options.shared else ():
        shared.add(_position(text, argument.strip(), [before, names], "--shared"))
    _check_names(text, "argument", entry.arguments, names)
    if len(shared) == len(names):
        problem = f"all arguments of '{entry.name}' are shared" if names else \
            f"'{entry.name}' has no arguments"
        raise text.error(entry.place, f"{problem}; the entry function requires an argument that "
                         "is not shared")
    return names, shared


def _names_of_results(text, entry, options):
    values = entry.results
    if not values:
        raise text.error(entry.place, f"'{entry.name}' has no results; the entry function "
                         "requires at least one")
    if options.outputs is not None:
        names = [name.strip() for name in options.outputs.split(",")]
        if len(names) != len(values):
            raise TextError(f"{text.file}: error: --outputs has {len(names)} names; expected "
                            f"{len(values)}, one for each result of '{entry.name}'")
    else:
        names = []
        for i, value in enumerate(values):
            info = _plain(string(value.attributes, "jax.result_info") or "")
            path = info.removeprefix("result").lstrip(".")
            names.append(string(value.attributes, "batch.name") or (
                path if path and not path[0].isdigit() else
                "result" + (path or (str(i) if len(values) > 1 else ""))))
    _check_names(text, "result", values, names)
    return names


def as_entry(text, known, options):
    """Returns the text with a function as the entry, and a description of the entry."""
    functions = parse_functions(text)
    entry = _entry(text, functions, options.entry)
    names, shared = _names_of_arguments(text, entry, known.get(entry.name, []), options)
    outputs = _names_of_results(text, entry, options)
    for function in functions:
        function.attributes.pop("batch.entry", None)
    entry.attributes["batch.entry"] = "batch.entry"
    for i, (argument, name) in enumerate(zip(entry.arguments, names)):
        kind = "batch.shared" if i in shared else "batch.name"
        argument.attributes.pop("batch.name", None)
        argument.attributes.pop("batch.shared", None)
        argument.attributes[kind] = f'{kind} = "{name}"'
    for result, name in zip(entry.results, outputs):
        result.attributes["batch.name"] = f'batch.name = "{name}"'
    for function in functions:
        function.write()
    parts = ["{}{}: {}".format("shared " if i in shared else "", name, argument.type)
             for i, (argument, name) in enumerate(zip(entry.arguments, names))]
    results = [f"{name}: {result.type}"
               for result, name in zip(entry.results, outputs)]
    return text.changed(), "entry @{}({}) -> ({})".format(
        entry.name, ", ".join(parts), ", ".join(results))
