// Package look finds out what files of records are, and what each of their columns is.
//
//	files ──► sniff: format, separator, header ──► one pass: a tally of each column ──► rules: what it becomes
//
// The pass reads the files once, in parts of whole lines side by side. What is learnt of a part is put
// together in the order of the parts, or does not depend on the order: the same files give the same [Table],
// bit for bit, on any number of cores. Memory does not grow with the files.
//
// The package decides nothing in silence: each choice has its reason, and what was left out is in
// [Table.Notices].
package look
