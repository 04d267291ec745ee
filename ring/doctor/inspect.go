package doctor

import (
	"fmt"
	"os"
	"path/filepath"

	"ringtrain/ring/cores"
)

// Write is a path that a job writes to, and its key in the job file.
type Write struct{ Key, Path string }

// Inspect describes this process's host: what it is allowed, and the room that
// there is where the job writes. kernels are its kernel sets in ascending order.
// Rank and address are left to [Examine].
func Inspect(version string, kernels []string, writes []Write) Host {
	h := Host{Version: version, Kernels: kernels[len(kernels)-1], Sets: kernels, Cores: cores.Bound(), Disks: []Disk{}}
	h.limits()
	for _, w := range writes {
		h.Disks = append(h.Disks, inspectDisk(w))
	}
	return h
}

// inspectDisk looks at the folder, or at what it would be made in.
func inspectDisk(w Write) Disk {
	d := Disk{Key: w.Key, Path: w.Path}
	path, err := filepath.Abs(w.Path)
	if err != nil {
		d.Fault = err.Error()
		return d
	}
	for {
		info, err := os.Stat(path)
		switch {
		case err == nil && !info.IsDir():
			d.Fault = path + " is no folder"
			return d
		case err == nil:
			if d.Free, err = room(path); err != nil {
				d.Fault = fmt.Sprintf("%s: %v", path, err)
			}
			return d
		case !os.IsNotExist(err) || filepath.Dir(path) == path:
			d.Fault = err.Error()
			return d
		}
		path = filepath.Dir(path)
	}
}
