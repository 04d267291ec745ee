package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestUPlot verifies that the files of uPlot 1.6.32 are those of its authors.
func TestUPlot(t *testing.T) {
	for name, want := range map[string]string{
		"uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
		"uPlot.min.css":     "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
		"LICENSE":           "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
	} {
		text, err := os.ReadFile(filepath.Join("uplot", name))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has the checksum %x, want %s", name, sum, want)
		}
	}
}

func zipped(text []byte) int {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(text)
	z.Close()
	return b.Len()
}

// TestSizes verifies that the page and the report of a run of a minute stay small on the wire.
func TestSizes(t *testing.T) {
	html, _ := Live()
	if got := zipped(html); got > 100<<10 {
		t.Errorf("the page has %d bytes by gzip, want at most 100 KiB", got)
	} else {
		t.Logf("page: %d bytes by gzip", got)
	}
	var b bytes.Buffer
	if err := Report(&b, made()["minute"]); err != nil {
		t.Fatal(err)
	}
	if got := zipped(b.Bytes()); got > 160<<10 {
		t.Errorf("the report of a minute has %d bytes by gzip, want at most 160 KiB", got)
	} else {
		t.Logf("report of a minute: %d bytes by gzip, %d plain, %d events", got, b.Len(), len(made()["minute"][0].Events))
	}
}

// TestHostileTexts verifies that no text of a rank ends the element that has the events, and that the texts are in it.
func TestHostileTexts(t *testing.T) {
	var b bytes.Buffer
	if err := Report(&b, made()["hostile"]); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(b.String(), `<script type="application/json" class="run">`)
	data, _, _ := strings.Cut(rest, "</script>")
	var run struct {
		Name   string
		Events []map[string]any
	}
	if err := json.Unmarshal([]byte(data), &run); err != nil {
		t.Fatal(err)
	}
	if want := len(made()["hostile"][0].Events); run.Name != hostile || len(run.Events) != want {
		t.Errorf("the data has %d events of %q, want %d of %q", len(run.Events), run.Name, want, hostile)
	}
}

// TestPolicy verifies that the policy permits by hash each script and each style of the page, and nothing that is
// unsafe; and that only a live page may connect.
func TestPolicy(t *testing.T) {
	live, policy := Live()
	for _, tag := range []string{"script", "style"} {
		found := regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+tag+`>`).FindAllStringSubmatch(string(live), -1)
		if len(found) < 2 {
			t.Errorf("%d elements %s, want several", len(found), tag)
		}
		for _, f := range found {
			sum := sha256.Sum256([]byte(f[1]))
			if !strings.Contains(policy, base64.StdEncoding.EncodeToString(sum[:])) {
				t.Errorf("the policy lacks the hash of a %s", tag)
			}
		}
	}
	if strings.Contains(policy, "unsafe") || !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("policy %s", policy)
	}
	_, alone := assemble(nil, "")
	if !strings.Contains(policy, connect) || strings.Contains(alone, "connect-src") {
		t.Errorf("connections: live %s, report %s", policy, alone)
	}
}
