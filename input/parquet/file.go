package parquet

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// File is a Parquet file whose footer is read.
type File struct {
	*input.StableFile
	limits  input.Limits
	footer  *footer
	columns []Column
}

// OpenFile reads the footer of a file. Codes of its errors: exitcode.NoInput, exitcode.IO, and exitcode.BadData for a file
// that is none of Parquet, is cut or says what cannot be.
func OpenFile(name string, limits input.Limits) (*File, error) {
	stable, r, err := input.OpenStable(name, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f := &File{StableFile: stable, limits: limits}
	if err := f.begin(r); err != nil {
		return nil, f.fault(err)
	}
	return f, nil
}

// begin reads the footer and the schema.
func (f *File) begin(r *os.File) error {
	head, err := input.Head(r)
	if err != nil {
		return &readError{err}
	}
	if kind, err := input.Compression(f.Name, head, false); kind != "" {
		return fmt.Errorf("is %s, want Parquet that is not compressed as a whole", kind)
	} else if err != nil && string(head[:min(len(head), len(magic))]) != magic {
		return err
	}
	if f.footer, err = readFooter(r, f.Size, f.limits); err != nil {
		return err
	}
	if f.footer.encrypted {
		return errors.New("is encrypted, want Parquet that is not")
	}
	columns, leaves, err := columnsOf(f.footer.elements)
	if err != nil {
		return err
	}
	for i, g := range f.footer.groups {
		if len(g.chunks) != leaves {
			return fmt.Errorf("footer: row group %d has %d columns, want %d as the schema", i, len(g.chunks), leaves)
		}
	}
	f.columns = columns
	return nil
}

// fault is err as an error of the whole file.
func (f *File) fault(err error) error {
	if e, ok := errors.AsType[*readError](err); ok {
		return f.ReadError(e.err, f.Size)
	}
	code := exitcode.Of(err)
	switch {
	case errors.Is(err, input.ErrFile):
		return err
	case code == exitcode.Failed:
		code = exitcode.BadData
	}
	return exitcode.With(code, input.WholeFile(fmt.Errorf("parquet: %s: %w", f.Name, err)))
}

// Records returns the number of records.
func (f *File) Records() int { return int(f.footer.rows) }

// Columns returns the columns in the order of the file: a field of a struct has a name such as a.b.
func (f *File) Columns() []Column { return f.columns }

// column returns the column with a name, nil if there is none.
func (f *File) column(name string) *Column {
	if i := slices.IndexFunc(f.columns, func(c Column) bool { return c.Name == name }); i >= 0 {
		return &f.columns[i]
	}
	return nil
}

// line is the file's line of a manifest.
func (f *File) line() string {
	return fmt.Sprintf("%s %d %d", input.ManifestName(f.Name), f.Size, f.footer.rows)
}

// Place names a record of the file.
func (f *File) Place(record int) string { return fmt.Sprintf("%s: record %d", f.Name, record) }
