package serving

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/export/ask"
	"ringtrain/ring/phrase"
)

// NewREST returns the handler of TensorFlow Serving's REST paths, and of those of probes and of people.
func NewREST(m *Models, o Options) http.Handler {
	h := &handler{models: m, options: o}
	open := func(r *http.Request) bool { return r.Method == http.MethodOptions || paths[r.URL.Path].open }
	return o.Token.HTTP(h, open, func(w http.ResponseWriter, err error) { h.write(w, reply{}, err) })
}

type handler struct {
	models  *Models
	options Options
	held    atomic.Int64 // bytes of the bodies of all requests in flight, and of what is made of them
}

// maxHeld is how many times the largest body all requests in flight may take together. It counts as minBody bytes at least.
const (
	maxHeld = 16
	minBody = 4 << 10
)

// reply is a body and its type, which is JSON if kind is empty.
type reply struct {
	text []byte
	kind string
}

// query is a request, and what its path names.
type query struct {
	w     http.ResponseWriter
	r     *http.Request
	model string
	want  Choice
}

// path answers the requests of a method.
type path struct {
	method string
	answer func(*handler, *query) (reply, error)
	open   bool // needs no token
}

// paths are all that there is. In the place of NAME stands a model, or a version of it; capital letters do not count.
var paths = map[string]path{
	"/v1/models/NAME:predict":  {http.MethodPost, post("Predict"), false},
	"/v1/models/NAME:classify": {http.MethodPost, post("Classify"), false},
	"/v1/models/NAME:regress":  {http.MethodPost, post("Regress"), false},
	"/v1/models/NAME":          {http.MethodGet, (*handler).status, false},
	"/v1/models/NAME/metadata": {http.MethodGet, of(describeSignatures), false},
	"/v1/models/NAME/example":  {http.MethodGet, of(example), false},
	"/v1/models":               {http.MethodGet, (*handler).list, false},
	"/":                        {http.MethodGet, (*handler).page, false},
	"/healthz":                 {http.MethodGet, (*handler).live, true},
	"/readyz":                  {http.MethodGet, (*handler).ready, true},
	"/v2/health/live":          {http.MethodGet, (*handler).live, true},
	"/v2/health/ready":         {http.MethodGet, (*handler).ready, true},
}

// modelPath matches the paths of models: name, version, label, and what is asked.
var modelPath = regexp.MustCompile(`(?i)^/v1/models/([^/:]+)(?:/versions/(\d+)|/labels/([^/:]+))?([:/][a-z]+)?$`)

// ServeHTTP answers a request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == "/monitoring/prometheus/metrics" {
		h.options.Metrics.Handler().ServeHTTP(w, r)
		return
	}
	a, err := h.route(&query{w: w, r: r})
	h.write(w, a, err)
}

// write writes a reply, or an error.
func (h *handler) write(w http.ResponseWriter, a reply, err error) {
	if err != nil {
		a = reply{text: ask.AppendError(nil, status.Convert(err).Message())}
	}
	header := w.Header()
	if h.options.CORS {
		header.Set("Access-Control-Allow-Origin", "*")
		header.Set("Access-Control-Allow-Methods", "POST, GET")
		header.Set("Access-Control-Allow-Headers", "Content-Type")
	}
	if a.kind == "" {
		a.kind = "application/json"
	}
	header.Set("Content-Type", a.kind)
	header.Set("Content-Length", strconv.Itoa(len(a.text)))
	w.WriteHeader(httpStatus(err))
	_, _ = w.Write(a.text) // a client that is gone hears nothing
}

// httpStatuses are the statuses of errors; all others are 500.
var httpStatuses = map[codes.Code]int{
	codes.OK: 200, codes.InvalidArgument: 400, codes.FailedPrecondition: 400, codes.OutOfRange: 400,
	codes.Unauthenticated: 401, codes.PermissionDenied: 403, codes.NotFound: 404, codes.AlreadyExists: 409, codes.Aborted: 409,
	codes.ResourceExhausted: 429, codes.Canceled: 499, codes.Unimplemented: 501, codes.Unavailable: 503, codes.DeadlineExceeded: 504,
}

// tooLarge is the error of a request that no server with these options answers.
type tooLarge string

func (t tooLarge) Error() string { return string(t) }

// GRPCStatus is the status that metrics count.
func (t tooLarge) GRPCStatus() *status.Status { return status.New(codes.ResourceExhausted, string(t)) }

func httpStatus(err error) int {
	if _, ok := errors.AsType[tooLarge](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	if code, ok := httpStatuses[status.Code(err)]; ok {
		return code
	}
	return http.StatusInternalServerError
}

// route finds what answers a request.
func (h *handler) route(q *query) (reply, error) {
	name := strings.ToLower(q.r.URL.EscapedPath())
	if parts := modelPath.FindStringSubmatch(q.r.URL.EscapedPath()); parts != nil {
		if err := q.name(parts); err != nil {
			return reply{}, status.Errorf(codes.InvalidArgument, "the path %s is not valid: %v", phrase.Name(name), err)
		}
		name = "/v1/models/NAME" + strings.ToLower(parts[4])
	}
	p := paths[name]
	switch {
	case q.r.Method == http.MethodOptions && regexp.MustCompile("https?://").MatchString(q.r.Header.Get("Origin")):
		return reply{}, nil // a browser asks whether a page of another origin may ask
	case q.r.Method == http.MethodOptions:
		return reply{}, status.Error(codes.FailedPrecondition, "the preflight request has no Origin of http or https")
	case p.method != q.r.Method && !(p.open && q.r.Method == http.MethodHead): // some probes want no body
		return reply{}, status.Errorf(codes.InvalidArgument, "there is no %s %s, want POST /v1/models/NAME:predict or GET / for what there is", phrase.Name(q.r.Method), phrase.Name(q.r.URL.Path))
	}
	return p.answer(h, q)
}

// name takes the model and its version from the parts of a path.
func (q *query) name(parts []string) (err error) {
	if q.model, err = url.PathUnescape(parts[1]); err == nil {
		q.want.Label, err = url.PathUnescape(parts[3])
	}
	if err == nil && parts[2] != "" {
		var n int64
		n, err = strconv.ParseInt(parts[2], 10, 64)
		q.want.Number = &n
	}
	return err
}

// of answers by the version that a request names.
func of(answer func(*Version) (reply, error)) func(*handler, *query) (reply, error) {
	return func(h *handler, q *query) (reply, error) {
		v, err := h.models.Acquire(q.model, q.want)
		if err != nil {
			return reply{}, err
		}
		defer v.Release()
		return answer(v)
	}
}

// post answers requests that ask a model, and counts them.
func post(api string) func(*handler, *query) (reply, error) {
	return func(h *handler, q *query) (_ reply, err error) {
		defer func(began time.Time) {
			h.options.Metrics.answered(q.model, api, "REST", began, err)
		}(time.Now())
		defer unbroken("the request", &err)
		v, err := h.models.Acquire(q.model, q.want)
		if err != nil {
			return reply{}, err // before the body: whatever it is, the name of a stranger makes no metric
		}
		v.Release() // a body may take its time, and a version that is replaced does not wait for it
		ctx, cancel := context.WithTimeout(q.r.Context(), h.options.Timeout)
		defer cancel()
		var held int64
		defer func() { h.held.Add(-held) }()
		take := func(bytes int) error {
			held += int64(bytes)
			return cmp.Or(h.take(held, int64(bytes)), status.FromContextError(ctx.Err()).Err())
		}
		text, err := h.read(q.w, q.r, take)
		if err != nil {
			return reply{}, err
		}
		return of(func(v *Version) (reply, error) {
			answer := predictJSON
			if api == "Predict" && strings.HasPrefix(strings.ToLower(q.r.Header.Get("Content-Type")), "text/csv") {
				answer = predictTable
			}
			a, err := answer(ctx, v, api, text, take)
			if _, coded := status.FromError(err); !coded { // a fault of the body
				err = status.Error(codes.InvalidArgument, err.Error())
			}
			return a, err
		})(h, q)
	}
}

// take adds bytes to what all requests take, and returns an error if it is too much. held is what the request itself takes.
func (h *handler) take(held, bytes int64) error {
	all := maxHeld * int64(max(h.options.MaxBody, minBody))
	switch now := h.held.Add(bytes); {
	case held > all:
		return tooLarge(fmt.Sprintf("the request takes more than %d bytes with its rows and values, want fewer in each request", all))
	case now > all:
		return status.Errorf(codes.Unavailable, "requests in flight take %d bytes, want fewer: send it again", all)
	}
	return nil
}

// read returns the body of a request, unpacked. take is told how much it takes.
func (h *handler) read(w http.ResponseWriter, r *http.Request, take ask.Meter) (text []byte, err error) {
	limit := int64(h.options.MaxBody)
	from := io.Reader(http.MaxBytesReader(w, r.Body, limit))
	if strings.EqualFold(r.Header.Get("Content-Encoding"), "gzip") {
		from, err = gzip.NewReader(from)
	}
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(metered{from, take}, limit+1))
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large || int64(len(text)) > limit {
		return nil, tooLarge(fmt.Sprintf("the body has more than %d bytes, want at most as many (--max-body)", limit))
	}
	if _, coded := status.FromError(err); !coded {
		return nil, status.Errorf(codes.InvalidArgument, "the body cannot be read: %v", err)
	}
	return text, err
}

// metered is a body whose bytes are told as they come, twice: a buffer that grows has room for as many again.
type metered struct {
	io.Reader
	take ask.Meter
}

func (m metered) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if n > 0 {
		err = cmp.Or(m.take(2*n), err)
	}
	return n, err
}
