"""MLIR module of a sampler."""

import jax
import numpy
from jax.extend import core

from batch.lowering.expansion import expand
from batch.lowering.module_writer import ModuleWriter
from batch.lowering.types import tensor_type
from batch.sampling.results import STATS
from batch.tracing.jaxprs import CONTROL, evaluate, open_jaxpr, variables

ROWS = 100  # maximum number of transitions in a call
DEEPEST = 16  # number of rows of the stacks in lib/Library/Multinomial.mlir


# --- the program --------------------------------------------------------------

_PROGRAM = """\
module {{
{functions}
  func.func private @log_density({q}: !vec{data}) -> (f64, !vec) {{
{body}
    %logp = tensor.extract {value}[] : tensor<f64>
    return %logp, {gradient} : f64, !vec
  }}
  func.func private @{mass}.velocity(!factor, !vec) -> !vec
  func.func private @{mass}.force(!factor, !vec) -> !vec
  func.func private @{mass}.observe(!factor, !vec, !vec) -> !factor
  func.func private @{mass}.fit(!factor, f64) -> !factor
  func.func private @mass.velocity(%factor: !factor, %z: !vec) -> !vec {{
    %0 = call @{mass}.velocity(%factor, %z) : (!factor, !vec) -> !vec
    return %0 : !vec
  }}
  func.func private @mass.force(%factor: !factor, %gradient: !vec) -> !vec {{
    %0 = call @{mass}.force(%factor, %gradient) : (!factor, !vec) -> !vec
    return %0 : !vec
  }}
  func.func private @mass.observe(%squares: !factor, %a: !vec, %b: !vec) -> !factor {{
    %0 = call @{mass}.observe(%squares, %a, %b) : (!factor, !vec, !vec) -> !factor
    return %0 : !factor
  }}
  func.func private @mass.fit(%squares: !factor, %count: f64) -> !factor {{
    %0 = call @{mass}.fit(%squares, %count) : (!factor, f64) -> !factor
    return %0 : !factor
  }}
  func.func private @multinomial.advance(
      !vec, !factor, !vec, !factor, tensor<6xf64>, index, index, i32, i32, !schedule,
      tensor<f64>, tensor<i32>, tensor<i1>{types})
      -> (!vec, !factor, !vec, !factor, tensor<6xf64>, !positions, !stats)
  func.func @main(
      %q: !vec {{batch.name = "q"}}, %factor: !factor {{batch.name = "factor"}},
      %mean: !vec {{batch.name = "mean"}}, %squares: !factor {{batch.name = "squares"}},
      %fits: tensor<6xf64> {{batch.name = "fits"}},
      %first: index {{batch.name = "first"}}, %count: index {{batch.name = "count"}},
      %seed: i32 {{batch.name = "seed"}}, %chain: i32 {{batch.name = "chain"}},
      %schedule: !schedule {{batch.name = "schedule"}},
      %target: tensor<f64> {{batch.shared = "target"}},
      %depth: tensor<i32> {{batch.shared = "depth"}},
      %slice: tensor<i1> {{batch.shared = "slice"}}{parameters})
      -> (!vec {{batch.name = "q"}}, !factor {{batch.name = "factor"}},
          !vec {{batch.name = "mean"}}, !factor {{batch.name = "squares"}},
          tensor<6xf64> {{batch.name = "fits"}},
          !positions {{batch.name = "positions"}}, !stats {{batch.name = "stats"}})
      attributes {{batch.entry}} {{
    %r:7 = call @multinomial.advance(%q, %factor, %mean, %squares, %fits, %first, %count,
        %seed, %chain, %schedule, %target, %depth, %slice{names})
        : (!vec, !factor, !vec, !factor, tensor<6xf64>, index, index, i32, i32,
           !schedule, tensor<f64>, tensor<i32>, tensor<i1>{types})
        -> (!vec, !factor, !vec, !factor, tensor<6xf64>, !positions, !stats)
    return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6
        : !vec, !factor, !vec, !factor, tensor<6xf64>, !positions, !stats
  }}
}}
"""


def _folded(closed):
    """Computes the values that depend only on constants, and returns the new closed jaxpr.

    They are computed once for all draws. Values that do not depend on an array, such as zeros,
    remain code.
    """
    jaxpr, constants = open_jaxpr(closed)
    known = dict(zip(jaxpr.constvars, constants))
    of_arrays = set(known)
    left = []
    for equation in jaxpr.eqns:
        inputs = set(variables(equation.invars))
        if equation.primitive.name in CONTROL or not known.keys() >= inputs:
            left.append(equation)
            continue
        known.update(zip(equation.outvars, evaluate(
            [equation], known, equation.outvars)))
        if of_arrays.intersection(inputs):
            of_arrays.update(equation.outvars)
        else:
            left.append(equation)
    used = set(variables(jaxpr.outvars))
    for equation in left:
        used.update(variables(equation.invars))
    kept = [v for v in known if v in used and v in of_arrays]
    return core.ClosedJaxpr(jaxpr.replace(constvars=kept, eqns=left),
                            [known[v] for v in kept])


def program(closed, mass):
    """Returns the text of a sampler's module, and the parameters of the module.

    closed: closed jaxpr of a function that returns log density and gradient for a vector.
    mass: "diagonal" or "dense".

    The parameters are the constants of the function: a dictionary from names to NumPy arrays.
    """
    lowering = ModuleWriter()
    jaxpr, constants = open_jaxpr(_folded(expand(closed)))
    environment = dict(zip(jaxpr.constvars, map(lowering.share, constants)))
    environment[jaxpr.invars[0]] = "%q"
    value, gradient = lowering.run(jaxpr, environment)
    count = jaxpr.invars[0].aval.shape[0]
    shared = [(name, tensor_type(jax.typeof(constant)))
              for name, constant in lowering.shared]
    text = _PROGRAM.format(
        functions="\n".join(lowering.functions), body="\n".join(lowering.lines),
        q="%q", value=value, gradient=gradient, mass=mass,
        data="".join(", {}: {}".format(*pair) for pair in shared),
        types="".join(", " + kind for _, kind in shared),
        names="".join(", " + name for name, _ in shared),
        parameters="".join(f', {name}: {kind} {{batch.shared = "{name[1:]}"}}'
                           for name, kind in shared))
    aliases = {"vec": (count, "f64"), "stats": (ROWS, len(STATS), "f64"),
               "factor": (count if mass == "dense" else 1, count, "f64"),
               "positions": (ROWS, count, "f64"), "schedule": (ROWS, "i32")}
    return "".join("!{} = tensor<{}>\n".format(name, "x".join(map(str, shape)))
                   for name, shape in aliases.items()) + text, \
        {name[1:]: numpy.asarray(constant) for name, constant in lowering.shared}
