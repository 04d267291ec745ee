package remote

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/exitcode"
)

// TestCredentials verifies where credentials are found, in which order, and that a refusal says where these were, but not what
// they are.
func TestCredentials(t *testing.T) {
	roles := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		switch {
		case r.Method == http.MethodPut:
			fmt.Fprint(w, "metadata-token")
		case strings.HasSuffix(r.URL.Path, "/security-credentials/"):
			fmt.Fprint(w, "role")
		case strings.HasSuffix(r.URL.Path, "/role"), r.URL.Path == "/container":
			fmt.Fprintf(w, `{"Code": "Success", "AccessKeyId": "AKIDROLE%d", "SecretAccessKey": "SECRET", "Token": "SECRETTOKEN", "Expiration": %q}`, len(r.URL.Path)%2, until)
		default:
			fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>AKIDWEB</AccessKeyId><SecretAccessKey>SECRET</SecretAccessKey><SessionToken>SECRETTOKEN</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, until)
		}
	}))
	defer roles.Close()
	hangs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hangs.Close()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	credentials := file("credentials", "[default]\naws_access_key_id = AKIDFILE\naws_secret_access_key = SECRET\n[lab]\naws_access_key_id = AKIDLAB\naws_secret_access_key = SECRET\n")
	config := file("config", "[default]\nregion = eu-north-1\n[profile lab]\nregion = eu-south-1\n")
	token := file("token", "SECRETTOKEN")
	env := []string{"AWS_ACCESS_KEY_ID=AKIDENV", "AWS_SECRET_ACCESS_KEY=SECRET"}
	for _, tt := range []struct {
		name  string
		env   []string
		keys  S3
		key   string // of the signature; "": not signed
		in    string // the region of the signature
		which string
	}{
		{"environment", append(env, "AWS_REGION=us-west-2", "AWS_SHARED_CREDENTIALS_FILE="+credentials), S3{}, "AKIDENV", "us-west-2", "the credentials of the environment"},
		{"environment, older region", append(env, "AWS_DEFAULT_REGION=us-west-1"), S3{}, "AKIDENV", "us-west-1", "the credentials of the environment"},
		{"region of the job", append(env, "AWS_REGION=us-west-2"), S3{Region: "eu-west-1"}, "AKIDENV", "eu-west-1", "the credentials of the environment"},
		{"file", []string{"AWS_SHARED_CREDENTIALS_FILE=" + credentials, "AWS_CONFIG_FILE=" + config}, S3{}, "AKIDFILE", "eu-north-1", "the credentials of the profile default"},
		{"profile", []string{"AWS_SHARED_CREDENTIALS_FILE=" + credentials, "AWS_CONFIG_FILE=" + config, "AWS_PROFILE=lab"}, S3{}, "AKIDLAB", "eu-south-1", "the credentials of the profile lab"},
		{"web identity", []string{"AWS_WEB_IDENTITY_TOKEN_FILE=" + token, "AWS_ROLE_ARN=arn:aws:iam::1:role/r", "AWS_ENDPOINT_URL_STS=" + roles.URL, "AWS_REGION=us-east-1"}, S3{}, "AKIDWEB", "us-east-1", "the credentials of the web identity of " + token},
		{"machine", []string{"AWS_EC2_METADATA_DISABLED=", "AWS_EC2_METADATA_SERVICE_ENDPOINT=" + roles.URL, "AWS_REGION=us-east-1"}, S3{}, "AKIDROLE", "us-east-1", "the credentials of the role of this machine"},
		{"container", []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI=" + roles.URL + "/container", "AWS_REGION=us-east-1"}, S3{}, "AKIDROLE", "us-east-1", "the credentials of the role of this container"},
		{"none", []string{"AWS_REGION=us-east-1"}, S3{}, "", "", "no credentials: there are none in the environment"},
		{"none, and no answer", []string{"AWS_EC2_METADATA_DISABLED=", "AWS_EC2_METADATA_SERVICE_ENDPOINT=" + hangs.URL, "AWS_REGION=us-east-1"}, S3{}, "", "", "no credentials: there are none in the environment"},
		{"anonymous", env, S3{Anonymous: true, Region: "us-east-1"}, "", "", "no credentials, as input.s3.anonymous says"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBucket(t, map[string]string{"x": "y"})
			for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
				t.Setenv(name, "")
			}
			for _, kv := range tt.env {
				name, value, _ := strings.Cut(kv, "=")
				t.Setenv(name, value)
			}
			signed := ""
			b.front = func(http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					signed = r.Header.Get("Authorization")
					w.WriteHeader(http.StatusForbidden)
					fmt.Fprint(w, `<Error><Code>AccessDenied</Code><Message>no</Message></Error>`)
				})
			}
			s := newStore(t, t.TempDir())
			s.Config.S3 = tt.keys
			_, err := s.Files(t.Context(), "s3://lake/x")
			if exitcode.Of(err) != exitcode.Auth || !strings.Contains(err.Error(), "input: s3://lake/x: 403 AccessDenied") || !strings.Contains(err.Error(), "; asked "+b.url+" with "+tt.which) {
				t.Errorf("error %v (%d), want %s", err, exitcode.Of(err), tt.which)
			}
			if strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "AKID") {
				t.Errorf("credentials are told: %v", err)
			}
			if tt.key == "" && signed != "" || tt.key != "" && (!strings.Contains(signed, "Credential="+tt.key) || !strings.Contains(signed, "/"+tt.in+"/s3/")) {
				t.Errorf("signed %q, want %s in %s", signed, tt.key, tt.in)
			}
		})
	}
}

// TestAuthority verifies that AWS_CA_BUNDLE names whom to trust, and what is said of endpoints and bundles that are wrong.
func TestAuthority(t *testing.T) {
	b := newBucket(t, map[string]string{"x": "y"})
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Host, r.URL.Scheme = strings.TrimPrefix(b.url, "http://"), "http"
		r.RequestURI = ""
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Error(err)
			return
		}
		answer.Body.Close()
		for name := range answer.Header {
			w.Header().Set(name, answer.Header.Get(name))
		}
		w.WriteHeader(answer.StatusCode)
		if r.Method == http.MethodGet {
			fmt.Fprint(w, "y")
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	bundle := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		endpoint, bundle string
		code             int
		want             string
	}{
		{server.URL, bundle, exitcode.OK, ""},
		{server.URL, filepath.Join(dir, "none"), exitcode.NoInput, "AWS_CA_BUNDLE: open"},
		{server.URL, filepath.Join(dir, "empty"), exitcode.BadData, "has no certificate"},
		{"https://user:SECRET@host", "", exitcode.Usage, "the endpoint of S3 (AWS_ENDPOINT_URL) is no URL such as"},
		{"ftp://host", "", exitcode.Usage, "the endpoint of S3 (AWS_ENDPOINT_URL) is no URL such as"},
	} {
		t.Setenv("AWS_ENDPOINT_URL", tt.endpoint)
		t.Setenv("AWS_CA_BUNDLE", tt.bundle)
		files, err := newStore(t, t.TempDir()).Files(t.Context(), "s3://lake/x")
		if exitcode.Of(err) != tt.code || err != nil && (!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "SECRET")) {
			t.Errorf("%s, %s: error %v (%d), want %d and %q", tt.endpoint, tt.bundle, err, exitcode.Of(err), tt.code, tt.want)
		}
		if err == nil && contents(t, files)[0] != "y" {
			t.Errorf("%s: another content", tt.endpoint)
		}
	}
}
