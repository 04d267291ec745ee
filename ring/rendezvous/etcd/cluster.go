package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

// Limits of one request.
const (
	requestTimeout = 1500 * time.Millisecond
	leaseTime      = 5 * time.Second // lease of the coordinator's key
	probeTimeout   = 500 * time.Millisecond
)

// Config holds the address of the cluster and the job.
type Config struct {
	Address        Address
	JobID          string        // names the job in the cluster
	User, Password string        // "": none
	Token          token.Token   // proves that a worker is a member of the job
	Patience       time.Duration // longest time to write an entry of the journal; less than the lease of workers
	Silence        time.Duration // how long no member answers before a fresh worker may campaign; 0: 15 s
	Notice         func(string)  // called with texts for people, from any goroutine; may be nil
}

// Cluster is an etcd cluster as seen by one worker of a job. Several goroutines may call its
// methods.
type Cluster struct {
	config Config
	keys   keys

	mu     sync.Mutex // held while the client is created
	client *clientv3.Client

	members *memberCheck // nil without a job
}

// Open returns a Cluster. It sends nothing. The caller must close the Cluster.
func Open(c Config) (*Cluster, error) {
	if c.JobID == "" {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("the rendezvous on %s needs a job id, the same on all ranks: add --job-id ID", c.Address))
	}
	if err := checkUser(c.User, c.Password); err != nil {
		return nil, err
	}
	return &Cluster{config: c, keys: c.Address.keys(c.JobID), members: newMemberCheck(c)}, nil
}

func checkUser(user, password string) error {
	if (user == "") != (password == "") {
		return exitcode.With(exitcode.Usage, errors.New("one of RINGTRAIN_ETCD_USER and RINGTRAIN_ETCD_PASSWORD is set, want both or none"))
	}
	return nil
}

// connect creates the client at the first use. With a user name, the client then requests a token
// of etcd.
func (c *Cluster) connect() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client != nil {
		return nil
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: c.config.Address.urls(), TLS: c.tls(), Username: c.config.User, Password: c.config.Password, DialTimeout: requestTimeout, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 2, MaxDelay: 500 * time.Millisecond},
			MinConnectTimeout: requestTimeout,
		})},
	})
	if err != nil {
		return c.explain(err)
	}
	c.client = client
	return nil
}

// tls returns nil for a cluster without TLS.
func (c *Cluster) tls() *tls.Config {
	if !c.config.Address.TLS {
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12}
}

// Close closes the connections. The caller closes an open journal before.
func (c *Cluster) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client == nil {
		return nil
	}
	return c.client.Close()
}

// Find returns the address at which the coordinator serves the rendezvous, "" if there is none. It
// takes 4 s at most. An error names the endpoints; it has exitcode.Auth if etcd denies access.
func (c *Cluster) Find(ctx context.Context) (addr string, err error) {
	if err := c.connect(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return c.coordinatorAt(ctx, c.keys.coordinator)
}

// coordinatorAt returns the address in the given coordinator's key.
func (c *Cluster) coordinatorAt(ctx context.Context, key string) (addr string, err error) {
	r, err := c.client.Get(ctx, key)
	if err != nil {
		return "", c.explain(err)
	}
	return c.coordinatorAddr(r.Kvs)
}

// coordinatorAddr returns the address in a coordinator's key, "" without a key.
func (c *Cluster) coordinatorAddr(kvs []*mvccpb.KeyValue) (addr string, err error) {
	if len(kvs) == 0 {
		return "", nil
	}
	addr = string(kvs[0].Value)
	if err := checkEndpoint(addr); err != nil {
		return "", fmt.Errorf("key %q of %s: %w", kvs[0].Key, c.endpoints(), err)
	}
	return addr, nil
}

func (c *Cluster) notify(text string) {
	if c.config.Notice != nil {
		c.config.Notice(text)
	}
}

func (c *Cluster) endpoints() string {
	return "etcd at " + strings.Join(c.config.Address.Endpoints, ", ")
}

// explain returns an error with the reason of a failed request, as far as it is known.
func (c *Cluster) explain(err error) error {
	for _, denied := range []error{rpctypes.ErrAuthFailed, rpctypes.ErrPermissionDenied, rpctypes.ErrUserEmpty, rpctypes.ErrAuthNotEnabled} {
		if errors.Is(rpctypes.Error(err), denied) {
			text := fmt.Sprintf("%s: %v; set RINGTRAIN_ETCD_USER and RINGTRAIN_ETCD_PASSWORD to a user with write access to %s/", c.endpoints(), denied, c.config.Address.Prefix)
			return exitcode.With(exitcode.Auth, errors.New(text))
		}
	}
	if !unavailable(err) {
		return fmt.Errorf("%s: %w", c.endpoints(), err)
	}
	return errors.New("etcd at " + strings.Join(c.probeEndpoints(), ", "))
}

// unavailable reports whether etcd may be unavailable only for now.
func unavailable(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return true
	}
	_, said := errors.AsType[rpctypes.EtcdError](rpctypes.Error(err))
	switch {
	case !said:
		return true // an error of gRPC: the connection
	case errors.Is(rpctypes.Error(err), rpctypes.ErrNoLeader), errors.Is(rpctypes.Error(err), rpctypes.ErrLeaderChanged),
		errors.Is(rpctypes.Error(err), rpctypes.ErrTimeout), errors.Is(rpctypes.Error(err), rpctypes.ErrTimeoutDueToLeaderFail),
		errors.Is(rpctypes.Error(err), rpctypes.ErrTimeoutDueToConnectionLost), errors.Is(rpctypes.Error(err), rpctypes.ErrStopped),
		errors.Is(rpctypes.Error(err), rpctypes.ErrNotCapable), errors.Is(rpctypes.Error(err), rpctypes.ErrTooManyRequests):
		return true
	}
	return false
}

// probeEndpoints returns why each endpoint cannot be reached. The client itself only knows that
// time has run out.
func (c *Cluster) probeEndpoints() []string {
	list := make([]string, len(c.config.Address.Endpoints))
	var wg sync.WaitGroup
	for i, e := range c.config.Address.Endpoints {
		wg.Go(func() { list[i] = e + ": " + c.probeEndpoint(e) })
	}
	wg.Wait()
	return list
}

// probeEndpoint returns why one endpoint cannot be reached, as far as a connection shows it.
func (c *Cluster) probeEndpoint(endpoint string) string {
	d := net.Dialer{Timeout: probeTimeout}
	conn, err := d.Dial("tcp", endpoint)
	if err != nil {
		return rendezvous.Reason(err)
	}
	conn.Close()
	if c.config.Address.TLS {
		secure, err := tls.DialWithDialer(&d, "tcp", endpoint, c.tls())
		if err != nil {
			return "TLS: " + strings.TrimPrefix(rendezvous.Reason(err), "tls: ")
		}
		secure.Close()
	}
	return "accepts connections, does not answer"
}
