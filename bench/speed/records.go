package speed

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"

	"ringtrain/input"
)

// records has the input files of all contenders: IDX files like MNIST's, or a click log.
type records struct {
	images, labels string
	log            clickFiles
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
	imageHeader = 16      // bytes before the pixels
	drawnBelow  = 64      // pixels of 0 become 1 to drawnBelow
	mostPixels  = 1 << 28 // bytes of an images file
)

// withoutZeros writes the images of r into folder, with a random value for each zero
// pixel.
func (r records) withoutZeros(folder string) (records, error) {
	pixels, err := inflated(r.images)
	if err != nil {
		return records{}, err
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

// inflated returns the content of a file, decompressed if it is gzip.
func inflated(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !strings.HasSuffix(path, ".gz") {
		return io.ReadAll(io.LimitReader(f, mostPixels))
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(io.LimitReader(z, mostPixels))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}
