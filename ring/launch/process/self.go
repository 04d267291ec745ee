package process

import (
	"fmt"
	"os"

	"ringtrain/ring/exitcode"
)

// Self returns the path of this program's file, as exitcode.NotRunnable if the kernel does not
// tell it: in a bare chroot, which lacks /proc.
func Self() (string, error) {
	path, err := os.Executable()
	if err != nil {
		err = exitcode.With(exitcode.NotRunnable, fmt.Errorf("the file of this program is not known: %w; want /proc mounted, as in a container", err))
	}
	return path, err
}
