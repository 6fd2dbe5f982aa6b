"""Results of batch-run, which tests compare with those of the Python package."""

import batchtest
import numpy

import batch


def oracle(folder, source, parameters, instances, *options):
    """Runs a model with batch-run and returns {output: (array, offsets of lists or None)}.

    folder: a folder for temporary files.
    source: the path of the model.
    """
    weights, inputs, results = (folder / name for name in (
        "parameters.safetensors", "inputs.jsonl", "outputs.safetensors"))
    batchtest.write_safetensors(weights, {
        name: ("F32", list(value.shape), value.ravel().tolist())
        for name, value in parameters.items()})
    batchtest.write_lines(inputs, instances)
    program = batchtest.compile_model(source, folder / "model.so", None, *options)
    batchtest.call("batch-run", program, f"--inputs={inputs}", f"--params={weights}",
                   f"--outputs={results}")
    tensors = batchtest.read_safetensors(results)
    return {name: (numpy.array(values).reshape(shape),
                   list(tensors[name + ".offsets"][2]) if name + ".offsets" in tensors else None)
            for name, (_, shape, values) in tensors.items() if not name.endswith(".offsets")}


def assert_outputs(found, wanted):
    """Requires that a function of the package returned exactly the results of oracle()."""
    assert found.keys() == wanted.keys()
    for name, (array, offsets) in wanted.items():
        output = found[name]
        assert isinstance(output, batch.Ragged) == (offsets is not None), name
        if offsets is not None:
            assert output.offsets.tolist() == offsets, name
            output = output.values
        assert output.shape == array.shape, name
        assert numpy.array_equal(output, array), f"{name} is {output}, wanted {array}"
