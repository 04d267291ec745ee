package page

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// serve starts a server on loopback, with metrics that say "count 1".
func serve(t *testing.T) *Server {
	t.Helper()
	l, err := Listen("--dash", "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "count 1") }))
	go s.Serve()
	t.Cleanup(func() { s.Close() })
	return s
}

// ask requests a path, with headers as name and value in turn. The caller closes the body.
func (s *Server) ask(t *testing.T, method, path string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.listener.Addr().String()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// TestToken verifies that each path takes the token as query, as cookie and as Bearer, and refuses all else.
func TestToken(t *testing.T) {
	s := serve(t)
	wrong := strings.Repeat("0", 2*tokenBytes)
	tests := []struct {
		name, query string
		headers     []string
		code        int
	}{
		{"query", "?token=" + s.token, nil, 200},
		{"bearer", "", []string{"Authorization", "bearer " + s.token}, 200},
		{"cookie", "", []string{"Cookie", s.cookie + "=" + s.token}, 200},
		{"cookie of another job beside it", "", []string{"Cookie", "ringtrain-0=x; " + s.cookie + "=" + s.token}, 200},
		{"old link, cookie", "?token=" + wrong, []string{"Cookie", s.cookie + "=" + s.token}, 200},
		{"none", "", nil, 403},
		{"empty", "?token=", []string{"Cookie", s.cookie + "=", "Authorization", "Bearer "}, 403},
		{"wrong", "?token=" + wrong, []string{"Cookie", s.cookie + "=" + wrong, "Authorization", "Bearer " + wrong}, 403},
		{"longer", "?token=" + s.token + "0", nil, 403},
		{"another scheme", "", []string{"Authorization", "Basic " + s.token}, 403},
		{"another cookie", "", []string{"Cookie", "token=" + s.token}, 403},
	}
	for _, tt := range tests {
		for _, path := range []string{"/", "/events", "/metrics", "/none"} {
			t.Run(tt.name+path, func(t *testing.T) {
				want := tt.code
				if want == 200 && path == "/none" {
					want = 404
				}
				answer := s.ask(t, "GET", path+tt.query, tt.headers...)
				if answer.StatusCode != want {
					t.Errorf("the answer is %s, want %d", answer.Status, want)
				}
				if set := answer.Header.Get("Set-Cookie"); (set != "") != (want == 200 && path == "/") {
					t.Errorf("the cookie is %q", set)
				}
			})
		}
	}
}

// TestPage verifies that the link that is printed answers with the page, its cookie and the headers that
// protect it.
func TestPage(t *testing.T) {
	s := serve(t)
	link, err := url.Parse(s.Link())
	if err != nil || len(link.Query().Get("token")) != 32 {
		t.Fatalf("the link is %s, %v, want a token of 128 bits in it", s.Link(), err)
	}
	answer := s.ask(t, "GET", link.RequestURI())
	html, policy := Live()
	if body, err := io.ReadAll(answer.Body); err != nil || string(body) != string(html) {
		t.Errorf("the body is %.80q, %v", body, err)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
		"Set-Cookie": s.cookie + "=" + s.token + "; Path=/; HttpOnly; SameSite=Strict",
	} {
		if got := answer.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if strings.Contains(policy, "unsafe") || !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("the policy is %s", policy)
	}
	if serve(t).token == s.token {
		t.Error("two servers have one token")
	}
}

// TestMethods verifies that a server takes GET alone.
func TestMethods(t *testing.T) {
	s := serve(t)
	for _, method := range []string{"POST", "PUT", "DELETE", "HEAD", "OPTIONS", "BREW"} {
		if answer := s.ask(t, method, "/?token="+s.token); answer.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s is answered with %s", method, answer.Status)
		}
	}
}

// TestEvents verifies that events reach a browser with what hosts are called, as one line, and that the
// server ends once its readers have the last event.
func TestEvents(t *testing.T) {
	s := serve(t)
	answer := s.ask(t, "GET", "/events", "Authorization", "Bearer "+s.token, "Last-Event-ID", "0")
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("the type is %q", kind)
	}
	s.Status([]byte("{}"))
	s.Event(report.Stamped{Event: report.Warning{Host: "</script>\n<b>", Cause: "\u2028"}, Time: time.Unix(0, 0)})
	s.Event(report.Stamped{Event: report.Done{Steps: 7}, Time: time.Unix(0, 0)})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil || strings.Contains(string(text), "<") || !strings.Contains(string(text), `"host":"\u003c/script\u003e\n\u003cb\u003e"`) || !strings.Contains(string(text), "id: 2\ndata: {\"event\":\"done\"") {
		t.Errorf("the reader has %s, %v", text, err)
	}
}

// TestManyReaders verifies that 16 readers are served, that one more is refused, and that there is a place
// once one has left.
func TestManyReaders(t *testing.T) {
	s := serve(t)
	var open []*http.Response
	for range maxReaders {
		answer := s.ask(t, "GET", "/events?token="+s.token)
		if answer.StatusCode != 200 {
			t.Fatalf("reader %d gets %s", len(open), answer.Status)
		}
		open = append(open, answer)
	}
	if answer := s.ask(t, "GET", "/events?token="+s.token); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more gets %s", answer.Status)
	}
	open[3].Body.Close()
	for deadline := time.Now().Add(time.Minute); ; {
		if answer := s.ask(t, "GET", "/events?token="+s.token); answer.StatusCode == 200 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the place of a reader that has left stays taken")
		}
	}
}

// TestUnreadConnection verifies that a browser that has stopped to read loses its connection and its place.
func TestUnreadConnection(t *testing.T) {
	s := serve(t)
	answer := s.ask(t, "GET", "/events?token="+s.token)
	if answer.StatusCode != 200 {
		t.Fatal(answer.Status)
	}
	big := report.Stamped{Event: report.Warning{Cause: strings.Repeat("x", 64<<10)}, Time: time.Unix(0, 0)}
	left := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.readers) == 0
	}
	for deadline := time.Now().Add(time.Minute); !left(); { // the system's buffers take some MiB
		if time.Now().After(deadline) {
			t.Fatal("the reader keeps its place")
		}
		s.Event(big)
		runtime.Gosched()
	}
}

// TestManyConnections verifies that connections that send nothing keep nobody from the page: of too many the oldest is
// closed, and one that has shown the token stays.
func TestManyConnections(t *testing.T) {
	s := serve(t)
	dial := func() net.Conn {
		c, err := net.Dial("tcp", s.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(time.Minute))
		return c
	}
	mine, oldest := dial(), dial()
	ask := func() {
		t.Helper()
		fmt.Fprintf(mine, "GET /metrics?token=%s HTTP/1.1\r\nHost: x\r\n\r\n", s.token)
		answer, err := http.ReadResponse(bufio.NewReader(mine), nil)
		if err != nil || answer.StatusCode != 200 {
			t.Fatalf("the answer is %v, %v", answer, err)
		}
	}
	ask()
	for range maxStrangers {
		dial()
	}
	if n, err := oldest.Read(make([]byte, 1)); err == nil || n != 0 {
		t.Errorf("a connection too many reads %d bytes", n)
	} else if e, ok := err.(net.Error); ok && e.Timeout() {
		t.Error("a connection too many stays open")
	}
	ask()
	if answer := s.ask(t, "GET", "/metrics?token="+s.token); answer.StatusCode != 200 {
		t.Errorf("another connection is answered with %s", answer.Status)
	}
}

// TestHugeRequest verifies that the head of a request has a bound.
func TestHugeRequest(t *testing.T) {
	s := serve(t)
	c, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go fmt.Fprintf(c, "GET /?token=%s HTTP/1.1\r\nHost: x\r\nCookie: %s\r\n\r\n", s.token, strings.Repeat("a", 4*maxHeader))
	if line, err := bufio.NewReader(c).ReadString('\n'); err == nil && !strings.Contains(line, " 431 ") {
		t.Errorf("the answer is %s", line)
	}
}

// TestListen verifies which addresses are taken, and the exit code and the way out of the others.
func TestListen(t *testing.T) {
	taken, err := Listen("--dash", "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	tests := []struct {
		address string
		public  bool
		code    int
		text    string
	}{
		{"localhost:0", false, 0, ""},
		{"[::]:0", true, 0, ""},
		{":0", true, 0, ""},
		{":0", false, exitcode.Usage, "HOST`, or in a cluster by `kubectl port-forward POD "},
		{"0.0.0.0:0", false, exitcode.Usage, "--dash-public allows that. From another host a page on 127.0.0.1 is seen by `ssh -L "},
		{taken.Addr().String(), false, exitcode.Retry, "another program has the port"},
		{"127.0.0.1", false, exitcode.Usage, "want HOST:PORT"},
		{"127.0.0.1:none", false, exitcode.Usage, "want HOST:PORT"},
		{"192.0.2.1:80", true, exitcode.Usage, "want HOST:PORT of this host"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("address=%s/public=%v", tt.address, tt.public), func(t *testing.T) {
			l, err := Listen("--dash", tt.address, tt.public)
			if l != nil {
				l.Close()
			}
			if exitcode.Of(err) != tt.code || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("the error is %v with code %d, want %d and %q", err, exitcode.Of(err), tt.code, tt.text)
			}
		})
	}
}

// TestAddress verifies that a server on all addresses is told by the name of its host, which others can take.
func TestAddress(t *testing.T) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	name, err := os.Hostname()
	if want := fmt.Sprintf("%s:%d", name, l.Addr().(*net.TCPAddr).Port); err != nil || Address(l) != want {
		t.Errorf("the address is %s, want %s, %v", Address(l), want, err)
	}
}
