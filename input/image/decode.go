package image

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"

	"ringtrain/input"
)

var errFormat = errors.New("is neither PNG nor JPEG by its first bytes")

// format has the decoders of one kind of files.
type format struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

// formatOf detects the format from the first bytes of a file.
func formatOf(file []byte) (format, error) {
	switch {
	case bytes.HasPrefix(file, []byte("\x89PNG\r\n\x1a\n")):
		return format{png.DecodeConfig, png.Decode}, nil
	case bytes.HasPrefix(file, []byte("\xff\xd8\xff")):
		return format{jpeg.DecodeConfig, jpeg.Decode}, nil
	}
	return format{}, errFormat
}

// maxDecoded is the maximum side of an image in pixels, that of JPEG.
const maxDecoded = 1<<16 - 1

// decode decodes a file if its header is within the limits.
func decode(file []byte, limits input.Limits) (image.Image, error) {
	f, err := formatOf(file)
	if err != nil {
		return nil, err
	}
	c, err := f.config(bytes.NewReader(file))
	if err != nil {
		return nil, ended(err)
	}
	if c.Width < 1 || c.Height < 1 || c.Width > maxDecoded || c.Height > maxDecoded {
		return nil, fmt.Errorf("has %d×%d pixels, want sides of 1 to %d", c.Width, c.Height, maxDecoded)
	}
	if err := limits.Decoded(int64(c.Width)*int64(c.Height)*pixelBytes(c.ColorModel), int64(len(file))); err != nil {
		return nil, err
	}
	m, err := f.decode(bytes.NewReader(file))
	return m, ended(err)
}

// pixelBytes returns the size of a decoded pixel.
func pixelBytes(m color.Model) int64 {
	switch m {
	case color.GrayModel:
		return 1
	case color.Gray16Model:
		return 2
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	return 4
}

// ended replaces the errors of a truncated file by a clear one.
func ended(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("file ends early")
	}
	return err
}
