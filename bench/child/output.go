package child

import "ringtrain/model/train/report"

// Output is where a comparison with other programs prints, and the program that it starts.
type Output struct {
	Program string             // path of this program
	Event   func(report.Event) // receives events; may be nil
	Print   func(line string)  // receives lines of the table
	Log     func(line string)  // receives messages about progress and missing libraries
}
