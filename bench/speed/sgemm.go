package speed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"ringtrain/bench/child"
)

// sgemm is bench kernels of this program for one square matrix size on one core.
type sgemm struct {
	program string

	length int
	set    string
}

func (s *sgemm) open(_ context.Context, w work) (string, error) {
	s.length, s.set = w.sgemm, w.kernels
	return "", nil
}

func (s *sgemm) turn(ctx context.Context, seconds time.Duration) (turn, error) {
	argv := []string{"bench", "kernels", "--json", "--only=squares", "--sizes=" + strconv.Itoa(s.length), fmt.Sprintf("--budget=%v", seconds)}
	if s.set != "" {
		argv = append(argv, "--kernels="+s.set)
	}
	cmd, stderr := exec.CommandContext(ctx, s.program, argv...), new(child.Tail)
	cmd.Stderr = stderr
	out, err := cmd.Output()
	if err != nil {
		return turn{}, fmt.Errorf("%w%s", err, stderr)
	}
	return lastKernel(out)
}

// lastKernel returns the rate of the last row, that of the highest kernel set.
func lastKernel(out []byte) (turn, error) {
	var rate float64
	for line := range bytes.Lines(out) {
		var r struct {
			Event string  `json:"event"`
			Rate  float64 `json:"gflop_s"`
		}
		if json.Unmarshal(line, &r) == nil && r.Event == "kernel" {
			rate = r.Rate
		}
	}
	if rate <= 0 {
		return turn{}, fmt.Errorf("bench kernels printed no rate")
	}
	return turn{rate: rate}, nil
}

func (s *sgemm) close() {}
