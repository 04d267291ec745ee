package bundle

import (
	"errors"
	"fmt"
	"syscall"
)

// Map returns a tensor whose Data is a view of the file: it takes no memory of the process, must not
// be written, and is valid until Close. Strings are copied. Map verifies the checksum first. A file that
// somebody shortens while it is mapped ends the process, so files of a bundle must not be changed in place.
func (r *Reader) Map(name string) (Tensor, error) {
	e, err := r.entry(name)
	if err != nil {
		return Tensor{}, err
	}
	s := &r.shards[e.Shard]
	if err := r.mapShard(s); err != nil {
		return Tensor{}, r.damaged(e, err)
	}
	return r.verified(e, s.mapped[e.Offset:e.Offset+e.Size:e.Offset+e.Size])
}

// mapShard maps the file of a shard, once.
func (r *Reader) mapShard(s *shard) error {
	r.mapping.Lock()
	defer r.mapping.Unlock()
	if s.mapped != nil || s.size == 0 {
		return nil
	}
	if info, err := s.file.Stat(); err != nil || info.Size() != s.size {
		return errors.Join(err, fmt.Errorf("the file no longer has %d bytes", s.size))
	}
	var err error
	s.mapped, err = syscall.Mmap(int(s.file.Fd()), 0, int(s.size), syscall.PROT_READ, syscall.MAP_SHARED)
	return err
}
