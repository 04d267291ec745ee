package job

import (
	"strings"
	"testing"
)

// TestInputShape verifies which values of input.shape are allowed for sparse records, for images
// (also those of input.evals alone) and for other records.
func TestInputShape(t *testing.T) {
	const dense = "model: {kind: softmax, classes: 2}\noptimizer: {learning_rate: 0.1}\ninput: {train: {format: libsvm, files: [x]}}\n"
	const sparse = "model: {kind: fm}\noptimizer: {learning_rate: 0.1}\ninput: {train: {format: libsvm, files: [x]}}\n"
	for _, c := range []struct {
		name, text string
		sets       []string
		want       string // the only fault; "": none
	}{
		{"dense", dense, []string{"input.shape=[2,2,1]"}, ""},
		{"dense, a size that is not", dense, []string{"input.shape=[2,2]"}, "input.shape is [2 2], want height, width and channels, or one size"},
		{"dense, no size", dense, []string{"input.shape=[0]"}, "input.shape[0] is 0, want 1 to 1048576"},
		{"dense, too many values", dense, []string{"input.shape=[1048576,1048576,1048576]"},
			"input.shape is [1048576 1048576 1048576], which is 1152921504606846976 values, want at most 268435456"},
		{"sparse", sparse, []string{"input.shape=[2,2,1]"}, "input.shape is [2 2 1], want none: the model reads sparse records"},
		{"images", dense, []string{"input.train.format=images", "input.train.files=", "input.train.images=x", "input.shape=[2,2]"},
			"input.shape is [2 2], want height, width and channels of the images"},
		{"images of evals", dense, []string{"input.evals=[{name: a, format: images, images: x}]", "input.resize=8", "input.shape=[2,2,1]"}, ""},
		{"no images", dense, []string{"input.resize=8"}, "input.resize is 8, want 0: no format is images"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := load(t, c.text, nil, c.sets)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("error %v, want none", err)
			case c.want != "" && (err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want %q alone", err, c.want)
			}
		})
	}
}
