package page

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// tokenBytes is the length of the token of a server.
const tokenBytes = 16

// endTime bounds the wait for readers to take the last events.
const endTime = time.Second

// A Server shows one run as a live page to those who have its token:
//
//	/         the page
//	/events   the events of the run, server-sent
//	/metrics  the handler of the metrics
//
// It is a view of the stream of events: neither training nor a reader waits for another reader.
type Server struct {
	hub      // its Load, Event and Status are the server's
	listener net.Listener
	http     *http.Server
	metrics  http.Handler
	token    string
	cookie   string // name: browsers do not tell the ports of a host apart
	html     []byte
	policy   string
}

// NewServer returns a server on a listener, with a fresh token.
func NewServer(l net.Listener, metrics http.Handler) *Server {
	secret := make([]byte, tokenBytes)
	rand.Read(secret) // never fails
	token := hex.EncodeToString(secret)
	name := sha256.Sum256([]byte(token))
	s := &Server{listener: l, metrics: metrics, token: token, cookie: "ringtrain-" + hex.EncodeToString(name[:4])}
	s.html, s.policy = Live()
	s.http = NewHTTP(s)
	return s
}

// Serve answers requests until Close, which closes the listener.
func (s *Server) Serve() { s.http.Serve(s.listener) }

// Link returns the address of the page, with its token.
func (s *Server) Link() string {
	return fmt.Sprintf("http://%s/?token=%s", Address(s.listener), s.token)
}

// Close ends the server when readers have the last events, or after a second.
func (s *Server) Close() error {
	s.end()
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if s.http.Shutdown(ctx) == nil {
		return nil
	}
	return s.http.Close()
}

// ServeHTTP answers a request that has the token.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", s.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	admitted := s.admits(r)
	if known, ok := r.Context().Value(proved{}).(func()); ok && admitted {
		known() // the connection is no stranger's any more
	}
	switch {
	case !admitted:
		http.Error(w, "want the link with the token that ringtrain has printed", http.StatusForbidden)
	case r.Method != http.MethodGet:
		h.Set("Allow", http.MethodGet)
		http.Error(w, "want GET", http.StatusMethodNotAllowed)
	case r.URL.Path == "/":
		http.SetCookie(w, &http.Cookie{Name: s.cookie, Value: s.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		h.Set("Content-Type", "text/html; charset=utf-8")
		w.Write(s.html)
	case r.URL.Path == "/events":
		s.events(w, r)
	case r.URL.Path == "/metrics":
		s.metrics.ServeHTTP(w, r)
	default:
		http.NotFound(w, r)
	}
}

// admits reports whether a request has the token: in the query, in the cookie of the page, or as
// Authorization: Bearer TOKEN.
func (s *Server) admits(r *http.Request) bool {
	tokens := r.URL.Query()["token"]
	for _, c := range r.CookiesNamed(s.cookie) {
		tokens = append(tokens, c.Value)
	}
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		tokens = append(tokens, token)
	}
	want, admitted := sha256.Sum256([]byte(s.token)), false
	for _, t := range tokens {
		got := sha256.Sum256([]byte(t))
		admitted = subtle.ConstantTimeCompare(got[:], want[:]) == 1 || admitted
	}
	return admitted
}

// events sends a reader the events of the run, from Last-Event-ID on.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	after, _ := strconv.Atoi(r.Header.Get("Last-Event-ID")) // 0: has none
	reader := s.enter(after, cancel)
	if reader == nil {
		w.Header().Set("Retry-After", "10")
		http.Error(w, fmt.Sprintf("%d pages are open, and there may be no more: close one", maxReaders), http.StatusServiceUnavailable)
		return
	}
	defer s.leave(reader)
	out := http.NewResponseController(w)
	out.SetReadDeadline(time.Time{}) // the request has been read
	defer context.AfterFunc(ctx, func() { out.SetWriteDeadline(time.Now()) })()
	w.Header().Set("Content-Type", "text/event-stream")
	s.stream(ctx, reader, func(text []byte) error {
		out.SetWriteDeadline(time.Now().Add(answerTime))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		return out.Flush()
	})
}
