package place

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParsePMI verifies which lines of mpiexec are valid, and what they hold.
func TestParsePMI(t *testing.T) {
	tests := []struct {
		line, name string
		values     map[string]string
	}{
		{"cmd=barrier_out\n", "barrier_out", map[string]string{}},
		{"cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n", "maxes", map[string]string{"kvsname_max": "256", "keylen_max": "64", "vallen_max": "1024"}},
		{"cmd=get_result rc=0 msg=success value=(vector,(0,2,1))\n", "get_result", map[string]string{"rc": "0", "msg": "success", "value": "(vector,(0,2,1))"}},
		{"cmd=get_result value=a=b empty=\n", "get_result", map[string]string{"value": "a=b", "empty": ""}},
	}
	for _, tt := range tests {
		name, values, err := parsePMI(tt.line)
		if err != nil || name != tt.name {
			t.Errorf("%q: name %q, error %v", tt.line, name, err)
		}
		if diff := cmp.Diff(tt.values, values); diff != "" {
			t.Errorf("%q: values differ (-want +got):\n%s", tt.line, diff)
		}
	}
	for _, line := range []string{
		"", "\n", "cmd=a", "cmd\n", "cmd=a  b=c\n", "cmd=a b\n", "b=c cmd=a\n", "rc=0\n", "cmd=a b=c b=d\n", "cmd=a cmd=b\n", "cmd=a =b\n", "cmd=a b=\x00\n",
		"cmd=a b=é\n", "cmd=a\nb=c\n", "cmd=a\r\n", "cmd=" + strings.Repeat("x", maxPMILine) + "\n",
	} {
		if name, values, err := parsePMI(line); err == nil {
			t.Errorf("%q is taken for %s %v", line, name, values)
		}
	}
}

// FuzzParsePMI verifies that no line makes the parser panic, and that accepted values are
// printable.
func FuzzParsePMI(f *testing.F) {
	f.Add("cmd=get_result rc=0 msg=success value=node1:7000\n")
	f.Add("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n")
	f.Fuzz(func(t *testing.T, line string) {
		name, values, err := parsePMI(line)
		if err != nil {
			return
		}
		values["cmd"] = name
		for key, value := range values {
			if key == "" || strings.ContainsFunc(key+value, notPrintable) {
				t.Errorf("%q holds %q=%q", line, key, value)
			}
		}
	})
}
