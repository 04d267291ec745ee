package doctor

import (
	"fmt"

	"ringtrain/ring/cores"
	"ringtrain/ring/folder"
)

// Write is a path that a job writes to, and its key in the job file.
type Write struct{ Key, Path string }

// Inspect describes this process's host: its limits, and the free space in the folders that the
// job writes to. kernels is the highest kernel set of the process. [Examine] sets rank and address,
// and the caller the token.
func Inspect(version, kernels string, writes []Write) Host {
	h := Host{Version: version, Kernels: kernels, Cores: cores.Own(), Disks: []Disk{}}
	h.limits()
	for _, w := range writes {
		d := Disk{Key: w.Key, Path: w.Path}
		at, err := folder.Nearest(w.Path)
		if err == nil {
			if d.Free, err = freeBytes(at); err != nil {
				err = fmt.Errorf("%s: %w", at, err)
			}
		}
		if err != nil {
			d.Fault = err.Error()
		}
		h.Disks = append(h.Disks, d)
	}
	return h
}
