package show

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"ringtrain/ring/joblist"
)

// JobTable writes a line for each job.
func JobTable(w io.Writer, jobs []joblist.Job) error {
	t := newTable(0, "job\tcommand\tphase\tranks\tstep\tsince\taddress\n")
	for _, j := range jobs {
		s := j.Status
		fmt.Fprintf(t, "%s\t%s\t%s\t%d of %d\t%s\t%s\t%s\n", cmp.Or(s.JobID, "-"), j.Command, s.Phase, s.Present, s.WorldSize, stepText(s.Step),
			j.Since.Local().Format(time.DateTime), j.Address)
	}
	return t.writeTo(w)
}
