package serving

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"ringtrain/ring/exitcode"
)

// TestServeEnds verifies the end of a server with a request in flight: it is not ready at once, answers
// for the time of drain, takes nothing new after it, and waits for the request, 30 s at most.
func TestServeEnds(t *testing.T) {
	for _, tt := range []struct {
		name    string
		request time.Duration // from the signal to the end of the request in flight
		ends    time.Duration // of Serve
		ok      bool          // the request has its answer
	}{
		{"short request", 2 * time.Second, 5 * time.Second, true},
		{"longer than drain", 20 * time.Second, 20 * time.Second, true},
		{"too long", time.Hour, 35 * time.Second, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFarm(t, Base{Name: "m"})
				f.put("1", "")
				f.look()
				lis := bufconn.Listen(1 << 10)
				s := &Server{Models: f.models, GRPC: grpc.NewServer(), Body: time.Hour, Drain: 5 * time.Second, REST: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/slow" {
						time.Sleep(tt.request)
					}
					io.WriteString(w, "answer")
				})}
				transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return lis.DialContext(ctx) }}
				get := func(path string) error {
					r, err := transport.RoundTrip(mustRequest(t, "http://m"+path))
					if err != nil {
						return err
					}
					defer r.Body.Close()
					_, err = io.ReadAll(r.Body)
					return err
				}
				ctx, term := context.WithCancel(t.Context())
				ended, answered := make(chan error), make(chan error, 1)
				go func() { ended <- s.Serve(ctx, lis, nil) }()
				go func() { answered <- get("/slow") }()
				synctest.Wait()
				term()
				began := time.Now()
				synctest.Wait()
				if f.models.Ready() {
					t.Error("ready after the signal")
				}
				if err := get("/"); err != nil {
					t.Errorf("a request in the time of drain: %v", err)
				}
				if err := <-ended; err != nil {
					t.Error(err)
				}
				// The server looks for idle connections from time to time.
				if took := time.Since(began); took < tt.ends || took > tt.ends+time.Second {
					t.Errorf("the server ended after %v, want %v", took, tt.ends)
				}
				if err := <-answered; (err == nil) != tt.ok {
					t.Errorf("the request in flight ends with %v", err)
				}
				if err := get("/"); err == nil {
					t.Error("a request after the end is answered")
				}
				time.Sleep(time.Hour) // the handler that was given up ends
			})
		})
	}
}

// TestSlowClients verifies that a client which sends its request a byte a second, or its body, or nothing
// after an answer, loses its connection after the time that it has.
func TestSlowClients(t *testing.T) {
	for _, tt := range []struct {
		name, first string // sent at once
		slow        bool   // a byte a second follows
		lasts       time.Duration
	}{
		{"header", "GET / HTTP/1.1\r\nHost: m\r\n", true, headerTime},
		{"nothing", "", false, headerTime},
		{"body", "POST / HTTP/1.1\r\nHost: m\r\nContent-Length: 1000000\r\n\r\n", true, headerTime + 30*time.Second},
		{"idle after an answer", "GET / HTTP/1.1\r\nHost: m\r\n\r\n", false, idleTime},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lis := bufconn.Listen(1 << 10)
				s := &Server{Models: NewModels(), GRPC: grpc.NewServer(), Body: 30 * time.Second, REST: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
				})}
				ctx, term := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- s.Serve(ctx, lis, nil) }()
				c, err := lis.DialContext(ctx)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				began, closed := time.Now(), make(chan struct{})
				go func() {
					defer close(closed)
					io.Copy(io.Discard, c) // until the server closes the connection
				}()
				for text := tt.first; text != ""; text = "x" {
					if _, err := io.WriteString(c, text); err != nil || !tt.slow {
						break
					}
					time.Sleep(time.Second)
				}
				<-closed
				if took := time.Since(began); took < tt.lasts-time.Second || took > tt.lasts+2*time.Second {
					t.Errorf("the connection lasts %v, want %v", took, tt.lasts)
				}
				term()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestUnreadAnswer verifies that a client which does not read its answer loses its connection after the time that it has.
func TestUnreadAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lis := bufconn.Listen(1 << 10)
		left := make(chan error, 1)
		s := &Server{Models: NewModels(), GRPC: grpc.NewServer(), Body: 30 * time.Second, REST: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, err := w.Write(make([]byte, 1<<20))
			left <- err
		})}
		ctx, term := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Serve(ctx, lis, nil) }()
		c, err := lis.DialContext(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		began := time.Now()
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: m\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if err := <-left; err == nil || time.Since(began) > headerTime+2*s.Body {
			t.Errorf("the answer is written with %v after %v, want an error after %v at most", err, time.Since(began), headerTime+2*s.Body)
		}
		term()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func mustRequest(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestListen verifies that a port in use may be tried again, and that a wrong address may not.
func TestListen(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Listen(l.Addr().String()); exitcode.Of(err) != exitcode.Retry || !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a port in use: %v with code %d", err, exitcode.Of(err))
	}
	if _, err := Listen("127.0.0.1:99999"); exitcode.Of(err) != exitcode.Usage || !strings.HasPrefix(err.Error(), "listen 127.0.0.1:99999: ") {
		t.Errorf("a wrong port: %v with code %d", err, exitcode.Of(err))
	}
}

// TestFaults verifies that a fault in a handler is told and costs one connection only, and that a
// stranger who does not speak TLS is not told of.
func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lis := bufconn.Listen(1 << 10)
		var told []string
		s := &Server{Models: NewModels(), GRPC: grpc.NewServer(), Fault: func(line string) { told = append(told, line) }, REST: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/fault" {
				panic("a fault")
			}
		})}
		ctx, term := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Serve(ctx, lis, nil) }()
		transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return lis.DialContext(ctx) }}
		if _, err := transport.RoundTrip(mustRequest(t, "http://m/fault")); err == nil {
			t.Error("a fault has an answer")
		}
		r, err := transport.RoundTrip(mustRequest(t, "http://m/"))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		io.WriteString(faults(s.Fault), "http: TLS handshake error from 192.0.2.1:7: EOF\n")
		term()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if len(told) != 1 || !strings.Contains(told[0], "a fault") {
			t.Errorf("told: %q", told)
		}
	})
}
