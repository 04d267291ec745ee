// Package kernel has the arithmetic of the layers: matrix products, convolution,
// elementwise functions, sums, losses, and rows of tables. All data are dense, row-major
// float32 except [NonZeros]. A wrong length panics. The package has more than 25 files
// because each kernel has its portable body, its assembly and the choice between them in
// separate files.
//
// A kernel belongs to an [Engine], which has one [Set] of kernels, a number of threads
// and their scratch memory:
//
//	          Gemm GemmTA GemmTB        Conv ConvInputGrad    GemmNonZeros
//	                  │                 ConvKernelGrad        GemmNonZerosTA
//	 cut into blocks, packed by strips          │                   │
//	                  └───────────┬─────────────┘                   │
//	micro-kernel      tile: a few rows by a vector or two     gather: four rows
//	of the set        of columns, summed over k in registers  of a list at a time
//
// [Bags] are for tables that are too large for products. GatherRows copies the rows of a
// batch, each once. PoolRows and Interact read the copies. PoolRowsGrad and InteractGrad
// add to a gradient with the same number of rows.
//
// # Invariants
//
//   - An element of a product is one chain of additions in ascending order of k. It has the same bits in every batch, with any number of threads, at any address, and from a list or a matrix.
//   - [AVX2] and [AVX512] fuse each product with its addition and have equal bits. [Portable] rounds each product, so noasm, arm64 and amd64 have equal bits.
//   - All other kernels have equal bits in all sets: functions of elements, sums (laneSum, SumRows), bags, poolings, losses, the rules of Update. A portable body without fused multiply-add defines each of them. Most of their assembly is written once for vectors of 8 and of 16, in the headers *_wide_amd64.h.
//   - The error of exp and log is at most 1 unit in the last place, that of tanh and erf at most 2, over the whole of float32, with infinities and denormals; NaN stays NaN.
//   - A call allocates nothing after the scratch memory has grown.
package kernel
