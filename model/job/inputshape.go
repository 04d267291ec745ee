package job

import (
	"slices"
	"strings"

	"ringtrain/input/convert"
	"ringtrain/input/image"
	"ringtrain/model/graph"
)

// maxWidth bounds the values of a record of input.shape: 1 GiB.
const maxWidth = 1 << 28

// checkShape checks input.shape, except the conditions of checkImages.
func (in *Input) checkShape(f *faults, sparse bool) {
	switch n := len(in.Shape); {
	case n == 0 || !in.Synthetic && in.hasImages():
		return
	case sparse:
		f.add("input.shape is %v, want none: the model reads sparse records", in.Shape)
	case n != 1 && n != 3:
		f.add("input.shape is %v, want height, width and channels, or one size", in.Shape)
	}
	if n := graph.Shape(in.Shape).Len(); n > maxWidth {
		f.add("input.shape is %v, which is %d values, want at most %d", in.Shape, n, maxWidth)
	}
}

// hasImages reports whether some of the records are brought to input.shape.
func (in *Input) hasImages() bool {
	return slices.ContainsFunc(in.sets(), func(s set) bool { return s.format.Resized })
}

// checkImages checks the options of images.
func (in *Input) checkImages(f *faults) {
	if !in.hasImages() {
		if in.Resize != 0 {
			f.add("input.resize is %d, want 0: no format is %s", in.Resize, strings.Join(convert.Names(convert.Format.IsResized), " or "))
		}
		return
	}
	if len(in.Shape) != 3 {
		f.add("input.shape is %v, want height, width and channels of the images", in.Shape)
		return
	}
	c := image.Config{Shape: image.Shape{Height: in.Shape[0], Width: in.Shape[1], Channels: in.Shape[2]}, Resize: in.Resize}
	*f = append(*f, flatten(c.Check())...)
}
