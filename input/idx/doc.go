// Package idx reads and writes IDX files, the format of the MNIST data set.
//
//	0       1       2       3       4               8
//	┌───────┬───────┬───────┬───────┬───────────────┬─ … ─┬─────────┐
//	│  00   │  00   │ type  │ dims  │ size of dim 0 │     │ payload │
//	└───────┴───────┴───────┴───────┴───────────────┴─ … ─┴─────────┘
//
// All integers are big-endian. There are dims sizes, and the payload has their
// product of elements, row-major, and ends the file. type is 08 uint8, 09 int8,
// 0b int16, 0c int32, 0d float32, 0e float64. Images are uint8 of two or more
// dimensions, the first of which counts them; labels are integers of one. The
// format has neither checksum nor version. A file may be gzip, whatever its name.
//
// Source: Y. LeCun, C. Cortes and C. Burges, "The MNIST database of handwritten
// digits".
package idx
