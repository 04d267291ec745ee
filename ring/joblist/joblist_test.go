package joblist

import (
	"strings"
	"testing"

	"ringtrain/ring/token"
)

// TestAddRead verifies that Read finds what Add lists, until remove is called, and that it names a
// file of a living process that is no listing.
func TestAddRead(t *testing.T) {
	held, err := token.Hold(entrySuffix, []byte(`{"address":"nowhere"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	secret := token.New()
	remove, err := Add(Entry{Command: "run mnist", Address: "[::]:1234", Token: secret, Dashboard: "http://127.0.0.1:5/?token=0"})
	if err != nil {
		t.Fatal(err)
	}
	own := func() (found []Entry) {
		list, errs := Read()
		named := false
		for _, err := range errs {
			named = named || strings.HasPrefix(err.Error(), held.Path+": is no listing of a job: the address is not HOST:PORT")
		}
		if !named {
			t.Errorf("errors %v do not name %s", errs, held.Path)
		}
		for _, l := range list { // also of other processes of this user
			if l.Token == secret {
				found = append(found, l)
			}
		}
		return found
	}
	if found := own(); len(found) != 1 || found[0].Command != "run mnist" || found[0].Address != "127.0.0.1:1234" || found[0].Dashboard != "http://127.0.0.1:5/?token=0" || found[0].Since.IsZero() {
		t.Errorf("found %v, want the job once", found)
	}
	remove()
	if found := own(); len(found) != 0 {
		t.Errorf("after its end found %v", found)
	}
}

// TestParseEntry verifies that text that is no listing is refused.
func TestParseEntry(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `{"address":"a"}`, `{"address":"a:1","token":"0"}`, strings.Repeat("[", 16<<10)} {
		if l, _, err := parseEntry([]byte(text)); err == nil {
			t.Errorf("%.40q is read as %v", text, l)
		}
	}
	if l, host, err := parseEntry([]byte(`{"address":"a:1","host_id":"h"}`)); err != nil || l.Address != "a:1" || host != "h" || l.Token.Set() {
		t.Errorf("read %v of host %q, error %v", l, host, err)
	}
}
