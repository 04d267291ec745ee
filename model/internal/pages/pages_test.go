package pages

import (
	"runtime"
	"testing"
	"unsafe"
)

// TestMake verifies that memory of any size is zero, is writable to its last element,
// and is zero after Clear.
func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, 1000, hugeBytes / 4, hugeBytes, 3*hugeBytes + 7} {
		f := Make(n)
		if len(f.Values) != n {
			t.Fatalf("%d elements, want %d", len(f.Values), n)
		}
		for i := 0; i < n; i += max(1, n-1) {
			if f.Values[i] != 0 {
				t.Errorf("element %d of %d is %g, want 0", i, n, f.Values[i])
			}
			f.Values[i] = 1
		}
		f.Clear()
		for i, v := range f.Values {
			if v != 0 {
				t.Fatalf("element %d of %d is %g after Clear", i, n, v)
			}
		}
		runtime.KeepAlive(f)
	}
}

// TestHugePages verifies that large memory is aligned to a huge page.
func TestHugePages(t *testing.T) {
	f := Make(hugeBytes)
	if at := uintptr(unsafe.Pointer(&f.Values[0])); runtime.GOOS == "linux" && at%hugeBytes != 0 {
		t.Errorf("memory begins at %#x, want a multiple of %#x", at, hugeBytes)
	}
	runtime.KeepAlive(f)
}
