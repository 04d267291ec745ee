//go:build !linux

package netns

import (
	"errors"
	"os"
)

func supported() error { return errors.New("network namespaces are Linux's") }

func unshare() (*os.File, error) { return nil, supported() }
