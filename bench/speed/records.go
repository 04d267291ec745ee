package speed

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"ringtrain/input"
)

// records has the input files of all contenders: IDX files like MNIST's, a click log, or an exported
// model with a request.
type records struct {
	images, labels string
	log            clickFiles
	bundle         bundle
}

// findMNIST searches roots for MNIST's training records.
func findMNIST(roots []string) (records, error) {
	files, err := input.Expand(roots, []string{"mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz"}, nil)
	if err != nil {
		return records{}, fmt.Errorf("%w; get them with \"ringtrain data fetch mnist\", or name their folder's parent by --data", err)
	}
	for i, f := range files {
		if files[i], err = filepath.Abs(f); err != nil {
			return records{}, err
		}
	}
	return records{images: files[0], labels: files[1]}, nil
}

const (
	imageHeader = 16 // bytes before the pixels
	drawnBelow  = 64 // pixels of 0 become 1 to drawnBelow
)

// withoutZeros writes the images of r into folder, with a random value for each zero
// pixel.
func (r records) withoutZeros(ctx context.Context, folder string) (records, error) {
	f, err := input.OpenFile(ctx, r.images, input.Limits{})
	if err != nil {
		return records{}, err
	}
	defer f.Close()
	pixels, err := io.ReadAll(f)
	if err != nil {
		return records{}, input.ReadError(r.images, err)
	}
	if len(pixels) < imageHeader {
		return records{}, fmt.Errorf("%s: %d bytes, want %d or more", r.images, len(pixels), imageHeader)
	}
	draw := rand.New(rand.NewPCG(1, 0))
	for i := imageHeader; i < len(pixels); i++ {
		if pixels[i] == 0 {
			pixels[i] = byte(1 + draw.IntN(drawnBelow))
		}
	}
	path := filepath.Join(folder, "without-zeros-idx3-ubyte")
	return records{images: path, labels: r.labels}, os.WriteFile(path, pixels, 0o600)
}
