package environ

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/ring/phrase"
)

// nodeLists are lists of hosts and the first of each.
var nodeLists = map[string]string{
	"node1":                         "node1",
	"node[1-2]":                     "node1",
	"node[1,3]":                     "node1",
	"node[1-2,7-9],gpu-a[01-03],m5": "node1",
	"r[1-2]n[1-2]":                  "r1n1",
	"n[008-012]":                    "n008",
	"n[9-10]":                       "n9",
	"n[08,9]":                       "n08",
	"a.example.com,b-[1-2]":         "a.example.com",
	"m1,m2,m3":                      "m1",
	"n[07-11][1-3]a[1-3]":           "n071a1",
	"n[2-3],m":                      "n2",
}

// TestNodeList verifies the first host of each form of a list.
func TestNodeList(t *testing.T) {
	for list, want := range nodeLists {
		t.Run("list="+list, func(t *testing.T) {
			if got, err := FirstNode(list); got != want || err != nil {
				t.Errorf("first host %q, error %v, want %q", got, err, want)
			}
		})
	}
}

// TestNodeListAsScontrol verifies the table above against Slurm's own scontrol.
func TestNodeListAsScontrol(t *testing.T) {
	scontrol, err := exec.LookPath("scontrol")
	if err != nil {
		t.Skip("there is no scontrol (Debian: slurm-client) to compare with")
	}
	conf := filepath.Join(t.TempDir(), "slurm.conf") // scontrol needs a file, and ignores the names in it
	if err := os.WriteFile(conf, []byte("ClusterName=c\nSlurmctldHost=h\nNodeName=h\nPartitionName=p Nodes=h\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for list, want := range nodeLists {
		cmd := exec.Command(scontrol, "show", "hostnames", list)
		cmd.Env = []string{"SLURM_CONF=" + conf}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("scontrol show hostnames %s: %v\n%s", list, err, out)
		}
		if got, _, _ := strings.Cut(string(out), "\n"); got != want {
			t.Errorf("scontrol's first host of %s is %q, want %q", list, got, want)
		}
	}
}

// TestNodeListRefuses verifies that lists with a fault are errors.
func TestNodeListRefuses(t *testing.T) {
	for _, list := range []string{
		"", ",", "node1,", ",node1", "node[", "node[1", "node[1-", "node[]", "node[1-]", "node[2-1]", "node[a-b]", "node[1,]", "node[-1]", "node]1[",
		"[1-2]", "node[1-2]x", "node 1", "node[1 - 2]", "a/b", "node[1234567890123456789]",
		"a\nb", strings.Repeat("a", maxNodeListBytes+1),
	} {
		t.Run("list="+phrase.Quote(list), func(t *testing.T) {
			first, err := FirstNode(list)
			if err == nil {
				t.Fatalf("taken for a list that begins with %q", first)
			}
			if text := err.Error(); len(text) > 400 || strings.Contains(text, "\n") {
				t.Errorf("error of %d bytes: %q", len(text), text)
			}
		})
	}
}

// FuzzNodeList verifies that no list makes the parser panic, and that an accepted list has a
// first host, of letters that host names have.
func FuzzNodeList(f *testing.F) {
	for list := range nodeLists {
		f.Add(list)
	}
	f.Add("a[1-2")
	f.Fuzz(func(t *testing.T, list string) {
		first, err := FirstNode(list)
		if err == nil && (first == "" || !isNodeText(first)) {
			t.Errorf("the first host of %q is %q", list, first)
		}
	})
}

// TestExpandNodes verifies that a list is all of its hosts, in order, and bounded.
func TestExpandNodes(t *testing.T) {
	for list, want := range map[string]string{
		"node[1-2,7-9],gpu-a[01-03],m5": "node1 node2 node7 node8 node9 gpu-a01 gpu-a02 gpu-a03 m5",
		"r[1-2]n[1-2]":                  "r1n1 r1n2 r2n1 r2n2",
		"n[008-012]":                    "n008 n009 n010 n011 n012",
		"n[9-10]":                       "n9 n10",
		"n[08,9]":                       "n08 n9",
		"a.example.com,b":               "a.example.com b",
	} {
		if got, err := ExpandNodes(list, 9); strings.Join(got, " ") != want || err != nil {
			t.Errorf("list=%s: hosts %q, error %v, want %q", list, got, err, want)
		}
	}
	for _, list := range []string{"n[1-10]", "n[1-5],m[1-5]", "n[1-4]m[1-4]", "n[0-999999999999999999]", "n[1-9][1-999999999999999999]"} {
		if got, err := ExpandNodes(list, 9); err == nil || !strings.HasSuffix(err.Error(), "has more than 9 hosts") {
			t.Errorf("list=%s: hosts %q, error %v, want that they are more than 9", list, got, err)
		}
	}
	if got, err := ExpandNodes("n[2-1]", 9); err == nil {
		t.Errorf("a range that goes down is %q", got)
	}
}
