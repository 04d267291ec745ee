package join

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/rendezvous"
)

// TestServeRefuses verifies the exit code of each wrong option.
func TestServeRefuses(t *testing.T) {
	noLeak(t)
	a, err := Serve("127.0.0.1:0", false, rendezvous.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	tests := []struct {
		name, want string
		code       int
		listen     string
		c          rendezvous.ServerConfig
	}{
		{"port=taken", a.Addr() + ": address already in use", exitcode.Retry, a.Addr(), rendezvous.ServerConfig{}},
		{"token=none", "listening on :0 needs a token", exitcode.Auth, ":0", rendezvous.ServerConfig{}},
		{"listen=misspelt", `--listen is "a b"`, exitcode.Usage, "a b", rendezvous.ServerConfig{}},
		{"world=-1", "world size is -1, want 1 or more\nstart timeout is -1s", exitcode.Usage, "", rendezvous.ServerConfig{WorldSize: -1, StartTimeout: -time.Second}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Serve(tt.listen, false, tt.c)
			if exitcode.Of(err) != tt.code || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("error %v (code %d), want %q and %d", err, exitcode.Of(err), tt.want, tt.code)
			}
		})
	}
	var notice string
	open, err := Serve(":0", true, rendezvous.ServerConfig{Notice: func(line string) { notice = line }})
	if err != nil {
		t.Fatal(err)
	}
	open.Close()
	if !strings.HasPrefix(notice, "--insecure: listening on :0 without a token") {
		t.Errorf("notice %q, want that this is insecure", notice)
	}
}

// TestServeUnused verifies that the rendezvous of a program that never joins ends at
// once.
func TestServeUnused(t *testing.T) {
	noLeak(t)
	a, err := Serve("127.0.0.1:0", false, rendezvous.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	a.Close()
	a.Close()
	if took := time.Since(start); took > prompt {
		t.Errorf("it took %v", took)
	}
}

// TestServeStopped verifies that a rendezvous that is stopped before the end of its
// job returns the cause.
func TestServeStopped(t *testing.T) {
	noLeak(t)
	a, err := Serve("127.0.0.1:0", false, rendezvous.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStopped)
	start := time.Now()
	if err := a.Wait(ctx); !errors.Is(err, errStopped) || exitcode.Of(err) != exitcode.Terminated {
		t.Errorf("error %v (code %d), want the context's cause with its code", err, exitcode.Of(err))
	}
	if took := time.Since(start); took > prompt {
		t.Errorf("it took %v", took)
	}
}

// TestServeJobID verifies that the workers get the job's id, and that the rendezvous
// ends well with them.
func TestServeJobID(t *testing.T) {
	noLeak(t)
	for _, id := range []string{"job-7", ""} {
		t.Run("id="+id, func(t *testing.T) {
			c := newCrew("", 2)
			a, err := Serve("127.0.0.1:0", false, rendezvous.ServerConfig{JobID: id, Token: c.config.Token}) // the first worker that joins gives the world size
			if err != nil {
				t.Fatal(err)
			}
			c.places[0].Rendezvous, c.places[1].Rendezvous = a.Addr(), a.Addr()
			ended := make(chan error, 1)
			go func() { ended <- a.Wait(t.Context()) }()
			onAll(t, c.meetAll(t), func(_ int, team *Team) error {
				got := team.Group.Membership().JobID
				if id != "" && got != id || got == "" {
					t.Errorf("job id is %q, want %q, or any where none is given", got, id)
				}
				return team.Leave(t.Context())
			})
			if err := <-ended; err != nil {
				t.Errorf("the rendezvous ends with %v", err)
			}
		})
	}
}

// TestServeTellsLate verifies that workers that come a moment after the end of the
// start are told the cause, and that the rendezvous ends once all have been told.
func TestServeTellsLate(t *testing.T) {
	noLeak(t)
	c, a := aloneCrew(t, 3)
	ended := make(chan error, 1)
	start := time.Now()
	go func() { ended <- a.Wait(t.Context()) }()
	cause := &ring.Cause{Rank: 0, Text: "train.gz is missing", ExitCode: exitcode.NoInput}
	Report(t.Context(), c.places[0], c.config, cause)
	endsWith(t, c.meet(t.Context(), t, 1)(), exitcode.NoInput, 0, cause.Text)
	endsWith(t, c.meet(t.Context(), t, 2)(), exitcode.NoInput, 0, cause.Text)
	if err := <-ended; exitcode.Of(err) != exitcode.NoInput || !strings.Contains(err.Error(), cause.Text) {
		t.Errorf("the rendezvous ends with %v (code %d), want the cause with its code", err, exitcode.Of(err))
	}
	if took := time.Since(start); took > prompt {
		t.Errorf("the rendezvous stayed for %v", took)
	}
}

// TestListenAddr verifies that a rank under run listens on the address by which it reaches the rendezvous,
// and that others, and those that reach it by a name, listen as they are told.
func TestListenAddr(t *testing.T) {
	tests := []struct{ source, rendezvous, listen, want string }{
		{place.UnderRun, "127.0.0.2:7000", ":0", "127.0.0.1:0"},
		{place.UnderRun, "127.0.0.2:7000", ":7001", ":7001"},
		{place.UnderRun, "launcher.example:7000", ":0", ":0"},
		{"Slurm", "127.0.0.2:7000", ":0", ":0"},
	}
	for _, tt := range tests {
		if got := listenAddr(place.Place{Source: tt.source, Rendezvous: tt.rendezvous, Listen: tt.listen}); got != tt.want {
			t.Errorf("source=%s rendezvous=%s: listens on %s instead of %s, want %s", tt.source, tt.rendezvous, got, tt.listen, tt.want)
		}
	}
}
