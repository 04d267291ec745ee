// Package libsvm reads and writes LibSVM (SVMlight) text files, one record a line:
//
//	label index:value index:value … # comment
//
// Words are separated by blanks or tabs, and lines end with \n or \r\n. The
// label is a number; a word qid:n after it is passed over. Indices count from 1
// by convention, yet files that count from 0 exist, so the base is an option.
// They need not ascend. Lines without a word, and what follows a #, are passed
// over. The format has neither checksum nor version. A file may be gzip, whatever
// its name.
//
// The files of libffm name a field before each index, as in field:index:value. Indices are
// unique over all fields there. With Config.Bags each field of a record is a bag, which may be
// empty; pairs may name fields in any order. Without it a record is one bag, and the number of the
// field is checked only.
//
// Some tools write an index without a value; that is an error here, since it may
// as well be a line that was cut off.
//
// Source: T. Joachims, "SVMlight"; C.-C. Chang and C.-J. Lin, "LIBSVM: a library
// for support vector machines"; Y. Juan et al., "LIBFFM".
package libsvm
