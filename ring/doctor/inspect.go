package doctor

import (
	"fmt"
	"os"
	"path/filepath"

	"ringtrain/ring/cores"
)

// Write is a path that a job writes to, and its key in the job file.
type Write struct{ Key, Path string }

// Inspect describes this process's host: its limits, and the free space in the folders that the
// job writes to. kernels are the kernel sets of the process in ascending order. [Examine] sets
// rank and address.
func Inspect(version string, kernels []string, writes []Write) Host {
	h := Host{Version: version, Kernels: kernels[len(kernels)-1], Sets: kernels, Cores: cores.Affinity(), Disks: []Disk{}}
	h.limits()
	for _, w := range writes {
		h.Disks = append(h.Disks, inspectDisk(w))
	}
	return h
}

// inspectDisk inspects the folder, or its nearest existing parent.
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
			if d.Free, err = freeBytes(path); err != nil {
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
