package kernel

import (
	"fmt"
	"testing"
)

// TestTranspose verifies transpose and copyRows for every size around a block, and that
// memory around dst does not change.
func TestTranspose(t *testing.T) {
	for _, s := range Sets() {
		for rows := range 35 {
			for cols := range 35 {
				from, to := rows+3, cols+2
				src := random(from*(cols+1), 1)
				got, want := random(to*(rows+1), 2), random(to*(rows+1), 2)
				s.transpose(got, src, rows, cols, to, from)
				for l := range rows {
					for j := range cols {
						want[l*to+j] = src[j*from+l]
					}
				}
				sameBits(t, fmt.Sprintf("%v: transpose rows=%d cols=%d", s, rows, cols), got, want)

				from = cols + 1
				src, got, want = random(from*(rows+1), 3), random(to*(rows+1), 4), random(to*(rows+1), 4)
				s.copyRows(got, src, rows, cols, to, from)
				for i := range rows {
					copy(want[i*to:i*to+cols], src[i*from:])
				}
				sameBits(t, fmt.Sprintf("%v: copyRows rows=%d cols=%d", s, rows, cols), got, want)
			}
		}
	}
}
