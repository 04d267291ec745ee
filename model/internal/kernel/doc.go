// Package kernel holds the arithmetic of the layers: matrix products, convolution,
// elementwise functions, sums, losses, and rows of tables that bags of ids name. All
// data are dense, row-major float32 but for [NonZeros]; a caller's wrong length is a
// panic.
//
// A kernel belongs to an [Engine], which has one [Set] of kernels, a number of
// threads and their scratch memory:
//
//	          Gemm GemmTA GemmTB        Conv ConvInputGrad    GemmNonZeros
//	                  │                 ConvKernelGrad        GemmNonZerosTA
//	 cut into blocks, packed by strips          │                   │
//	                  └───────────┬─────────────┘                   │
//	micro-kernel      tile: a few rows by a vector or two     gather: four rows
//	of the set        of columns, summed over k in registers  of a list at a time
//
// [Bags] are for tables that are too large for products: GatherRows copies the rows that a
// batch names, once each; PoolRows and Interact read these, and PoolRowsGrad and
// InteractGrad add to a gradient of as many rows.
//
// # Invariants
//
//   - An element of a product is one chain of additions in ascending order of k. It
//     has the same bits in a batch of one row and of a thousand, on any number of
//     threads, wherever the operands lie, and from a list or a matrix.
//   - [AVX2] and [AVX512] fuse each product with its addition and have equal bits.
//     [Portable] rounds each product, so noasm, arm64 and amd64 have equal bits.
//   - All that is no product has equal bits in all sets: functions of elements, sums
//     (laneSum, SumRows), bags, poolings, losses, the rules of Update. A portable body
//     defines each of them, without fused multiply-add. Most of their assembly is
//     written once, in the headers *_wide_amd64.h, for vectors of 8 and of 16.
//   - exp and log are at most 1 unit in the last place off, tanh and erf 2, over the
//     whole of float32, with infinities and denormals; NaN stays NaN.
//   - A call allocates nothing once the scratch has grown.
package kernel
