// Package csvfile reads records from text with separated fields: CSV, TSV and Criteo's.
//
//	clicked,I1,C1,comment⏎              a header, or none
//	1,3.5,68fd1e64,"a ""b"", c"⏎        a field in quotes may hold separators, line ends and doubled quotes
//	0,,80e26c9b,⏎                       an empty field is missing
//
// Lines end with \n or \r\n; the last one may lack its end. A byte order mark of UTF-8 at the
// beginning of a file is no part of it. Empty lines, and those of blanks that do not separate
// fields, hold no record. The option input.columns says what the columns become; see package
// column. Package text describes how files are read.
//
// Where encoding/csv and RFC 4180 leave a choice: blanks belong to the field; a quote inside a
// field without quotes is a character like others; all records have as many fields as there are
// columns. Quotes around many lines, each of which has as many fields as a record, are an error: a
// quote may not be closed.
package csvfile
