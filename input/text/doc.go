// Package text reads the records of plain text files, one record a line, in any order and
// without parsing a line before it is due.
//
// The files are cut into blocks of 64 KiB. A record belongs to the block in which its line
// begins. [Open] counts the records of each block, which only looks for line ends:
//
//	file    │ 1 3:1 7:1⏎ 0 2:1⏎ 1 4:│1 9:1⏎ … │
//	        └─────── block 0 ───────┴─ block 1 ┘
//	counts             3                 …
//
// From the counts follow the number of records, the positions and the order of an epoch
// (see input.Facts). A record is then read by reading its block, finding the lines that
// begin there, and parsing its line alone. Blocks that were used last stay in memory, up to
// two windows of the order, so memory does not grow with the files: the counts take two
// bytes for each 64 KiB of text.
//
// The ranks of a job share the counting of plain text (see input.Counting): each counts a range of
// the blocks, and all exchange the counts. With quotes a rank does not know in which place of a line its
// range begins: within quotes, in a field without quotes, or where a quote would enclose. It counts all
// cases, and the ranges before tell which case holds. Two cases mostly come to the same place in the
// first block, and then go on as one.
//
// # Lines
//
// A line ends with \n; the last one may lack it. A line without other characters than
// blanks, tabs and \r, or whose first other character is [Config.Comment], holds no record.
// With [Config.Quote] a line end within quotes belongs to the record: see [Quoting]. A byte 0 makes
// a record bad.
//
// # Errors
//
// A fault of a line comes when its record is due. [Set.Check] finds those of the first MiB,
// which formats call when they open a file. The error names file, line, record and offset, and
// carries exitcode.BadData. So does a file that changes while it is read.
package text
