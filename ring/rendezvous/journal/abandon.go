package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// abandonedMagic begins a file that its rendezvous could not write any more. The job has gone on
// without the file. A rendezvous that continued from it would use a generation twice.
const abandonedMagic = "RTJ\x00"

var errMarkedAbandoned = errors.New("its rendezvous could not write it (disk full?), and the job went on without it; remove the file to start a job")

// abandon makes sure that no rendezvous continues from the file. It marks the file, which needs no
// space on the disk, or removes it. cause is the error of the failed write.
func (j *File) abandon(cause error) error {
	if p, ok := errors.AsType[*fs.PathError](cause); ok {
		cause = p.Err
	}
	err := fmt.Errorf("journal %s cannot be written (%w): %w", j.path, cause, ErrAbandoned)
	if j.mark() == nil || os.Remove(j.path) == nil {
		return err
	}
	return fmt.Errorf("%w; remove the file: no rendezvous may continue from it", err)
}

func (j *File) mark() error {
	if _, err := j.f.WriteAt([]byte(abandonedMagic), 0); err != nil {
		return err
	}
	return j.f.Sync()
}
