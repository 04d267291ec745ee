package serving

import (
	"context"
	"errors"
	"fmt"

	"ringtrain/ring/exitcode"
)

// openVersion loads a version and warms it.
func openVersion(ctx context.Context, name string, f folder) (*Version, error) {
	if f.twin != "" {
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("two folders have the number %d: %s and %s", f.number, f.path, f.twin))
	}
	return nil, errors.ErrUnsupported
}
