//===- DescriptorKeys.h - Keys of descriptors -------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The keys of the JSON descriptor of a compiled object. The compiler writes the
// descriptor, and the runtime reads it. docs/reference/abi.md describes the
// keys. A new key that a host must understand changes BATCH_ABI_VERSION.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_DESCRIPTORKEYS_H
#define BATCH_RUNTIME_DESCRIPTORKEYS_H

namespace batchrt::key {

#define BATCH_KEY(name) inline constexpr char name[] = #name;

// The object.
BATCH_KEY(abi)
BATCH_KEY(name)
BATCH_KEY(target)
BATCH_KEY(sizes)
BATCH_KEY(parameters)
BATCH_KEY(packings)
BATCH_KEY(adts)
BATCH_KEY(cellColumns)
BATCH_KEY(arguments)
BATCH_KEY(results)
BATCH_KEY(tables)
BATCH_KEY(groups)
BATCH_KEY(sources)
BATCH_KEY(kernels)
BATCH_KEY(indices)
BATCH_KEY(counted)
BATCH_KEY(memo)
BATCH_KEY(separable)
BATCH_KEY(waits)
BATCH_KEY(lockstep)
BATCH_KEY(replicate)
BATCH_KEY(device)
BATCH_KEY(policy)
BATCH_KEY(policyTable)
BATCH_KEY(has)
BATCH_KEY(notBatched)

// `target` and `has`.
BATCH_KEY(triple)
BATCH_KEY(cpu)
BATCH_KEY(features)
BATCH_KEY(inspect)
BATCH_KEY(execute)
BATCH_KEY(unbatched)

// Types. A scalar type is a string with its name; other types are objects.
BATCH_KEY(type)
BATCH_KEY(adt)
BATCH_KEY(list)
BATCH_KEY(tensor)
BATCH_KEY(dtype)
BATCH_KEY(shape)
BATCH_KEY(input) // of a source: the shape of its input tensors
BATCH_KEY(table)
BATCH_KEY(source)

// `adts`.
BATCH_KEY(kind) // also of an operand
BATCH_KEY(arity)
BATCH_KEY(variants)
BATCH_KEY(number)
BATCH_KEY(fields)

// `packings`; the packing itself is `rows` or `panels`.
BATCH_KEY(parameter)
BATCH_KEY(packing)
BATCH_KEY(rows)
BATCH_KEY(panels)
BATCH_KEY(n)
BATCH_KEY(k)
BATCH_KEY(width)
BATCH_KEY(transposed)
BATCH_KEY(stacked)
BATCH_KEY(extents)
BATCH_KEY(order)

// `tables`.
BATCH_KEY(rowBytes)
BATCH_KEY(group)
BATCH_KEY(block)
BATCH_KEY(slotBytes)
BATCH_KEY(ownBytes)
BATCH_KEY(transient)
BATCH_KEY(nextTo)
BATCH_KEY(offset)
BATCH_KEY(digits)
BATCH_KEY(run)

// `kernels`. Kinds of operands are `rows`, `gather`, `scalar` (BatchOperand).
BATCH_KEY(gather)
BATCH_KEY(scalar)
BATCH_KEY(phase)
BATCH_KEY(constant)
BATCH_KEY(deferred)
BATCH_KEY(operands)
BATCH_KEY(operand)
BATCH_KEY(variable)
BATCH_KEY(cell)
BATCH_KEY(ragged)
BATCH_KEY(position)
BATCH_KEY(siblings)
BATCH_KEY(inPlace)
BATCH_KEY(copiedBytes)
BATCH_KEY(taskScratch)
BATCH_KEY(raggedScratch)
BATCH_KEY(bytes)
BATCH_KEY(workerScratch)
BATCH_KEY(shareTasks)
BATCH_KEY(lines)

// `lockstep`.
BATCH_KEY(frames)
BATCH_KEY(variables)
BATCH_KEY(stack)
BATCH_KEY(blocks)
BATCH_KEY(stackBytes)
BATCH_KEY(topBytes)
BATCH_KEY(kernel)

// `replicate`, which also has `bytes`.
BATCH_KEY(tasks)
BATCH_KEY(capacity)
BATCH_KEY(memberBytes)
BATCH_KEY(setBytes)
BATCH_KEY(loops)
BATCH_KEY(kernelLoops)
BATCH_KEY(nodeBytes)
BATCH_KEY(nodeCells)
BATCH_KEY(nodeValues)

// `device`, where `kernel` is a name.
BATCH_KEY(chip)
BATCH_KEY(executor)
BATCH_KEY(blockSize)
BATCH_KEY(clusterSize)
BATCH_KEY(sharedBytes)

#undef BATCH_KEY

} // namespace batchrt::key

#endif // BATCH_RUNTIME_DESCRIPTORKEYS_H
