package serving

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"ringtrain/bench/child"
	"ringtrain/export/interpreter"
	"ringtrain/export/serving/servingpb"
	"ringtrain/export/tfpb"
)

// server is a process that serves, and the connections to it.
type server struct {
	pid   int
	rest  string             // address
	conns []*grpc.ClientConn // by client
	http  *http.Client
	end   context.CancelFunc
	ended chan struct{}
}

// startLimit bounds the time until a server answers.
const startLimit = time.Minute

// start serves the models of a folder.
func start(ctx context.Context, program, folder string, options ...string) (*server, error) {
	ctx, end := context.WithCancel(ctx)
	s := &server{end: end, ended: make(chan struct{}), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}}
	lines, out := io.Pipe()
	started, failed := make(chan int, 1), make(chan error, 1)
	argv := append([]string{program, "serve", folder, "--listen", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--poll", poll.String()}, options...)
	go func() {
		defer close(s.ended)
		runtime.LockOSThread() // the process ends with the thread
		defer runtime.UnlockOSThread()
		cmd, stderr := child.Process{Argv: argv, Stdout: out}.Command(ctx)
		err := cmd.Start()
		if err == nil {
			started <- cmd.Process.Pid
			err = cmd.Wait()
		}
		out.Close()
		failed <- fmt.Errorf("serve: %w%s", err, stderr)
	}()
	addresses := make(chan [2]string, 1)
	go readAddresses(lines, addresses)
	late := time.NewTimer(startLimit)
	defer late.Stop()
	select {
	case found := <-addresses:
		s.pid, s.rest = <-started, found[0]
		return s, s.connect(found[1])
	case err := <-failed:
		end()
		return nil, err
	case <-late.C:
		s.close()
		return nil, fmt.Errorf("serve: no ports within %v", startLimit)
	}
}

// readAddresses sends the addresses of REST and gRPC that a server prints, and reads on to its end.
func readAddresses(out io.Reader, addresses chan<- [2]string) {
	var found [2]string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		for i, protocol := range []string{"REST on ", "gRPC on "} {
			if address, ok := strings.CutPrefix(lines.Text(), protocol); ok {
				found[i] = address
			}
		}
		if found[0] != "" && found[1] != "" {
			addresses <- found
			break
		}
	}
	io.Copy(io.Discard, out)
}

// connect prepares a connection for each client.
func (s *server) connect(address string) error {
	for range clients {
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			s.close()
			return err
		}
		s.conns = append(s.conns, conn)
	}
	return nil
}

// close ends the server.
func (s *server) close() {
	for _, conn := range s.conns {
		conn.Close()
	}
	s.http.CloseIdleConnections()
	s.end()
	<-s.ended
}

// byGRPC returns a request to predict, by gRPC.
func (s *server) byGRPC(model, signature, input string, t *interpreter.Tensor) call {
	r := &servingpb.PredictRequest{ModelSpec: &servingpb.ModelSpec{Name: model, SignatureName: signature}, Inputs: map[string]*tfpb.TensorProto{input: t.Proto()}}
	return func(ctx context.Context, client int) error {
		_, err := servingpb.NewPredictionServiceClient(s.conns[client]).Predict(ctx, r, grpc.WaitForReady(true))
		return err
	}
}

// byREST returns a request to predict, by REST, for one record of numbers.
func (s *server) byREST(model, signature string, t *interpreter.Tensor) call {
	numbers := make([]string, len(t.Float32))
	for i, v := range t.Float32 {
		numbers[i] = strconv.FormatFloat(float64(v), 'g', -1, 32)
	}
	body := fmt.Appendf(nil, `{"signature_name": %q, "instances": [[%s]]}`, signature, strings.Join(numbers, ","))
	url := "http://" + s.rest + "/v1/models/" + model + ":predict"
	return func(ctx context.Context, _ int) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return err
		}
		answer, err := s.http.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err == nil && answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", answer.Status, text)
		}
		return err
	}
}

// states returns the states of the versions of a model.
func (s *server) states(ctx context.Context, model string) (map[int64]servingpb.ModelVersionStatus_State, error) {
	answer, err := servingpb.NewModelServiceClient(s.conns[0]).GetModelStatus(ctx, &servingpb.GetModelStatusRequest{ModelSpec: &servingpb.ModelSpec{Name: model}}, grpc.WaitForReady(true))
	all := map[int64]servingpb.ModelVersionStatus_State{}
	for _, v := range answer.GetModelVersionStatus() {
		all[v.GetVersion()] = v.GetState()
	}
	return all, err
}

// until waits until a version is in a state.
func (s *server) until(ctx context.Context, model string, version int64, want servingpb.ModelVersionStatus_State) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(poll / 5)
	defer tick.Stop()
	for {
		states, err := s.states(ctx, model)
		if err == nil && states[version] == want {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("version %d of %s is %v, want %v: %w", version, model, states[version], want, ctx.Err())
		case <-tick.C:
		}
	}
}

// private returns the bytes of memory that are the server's own, not those of files.
func (s *server) private() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if kib, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(kib), " kB"), 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("no RssAnon in the status of process %d", s.pid)
}
