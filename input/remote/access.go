package remote

import (
	"cmp"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"
)

// access is how an endpoint of S3 is reached, as AWS's tools find it.
type access struct {
	host   string
	secure bool
	region string // "": the server tells it
	bundle string // file of certificates
	creds  *credentials.Credentials
	found  *named // of the credentials; nil: requests are not signed
}

// awsEndpoint is asked if no endpoint is named.
const awsEndpoint = "https://s3.amazonaws.com"

// findAccess reads keys, environment and the profile.
func findAccess(keys S3) (access, error) {
	profile := readProfile()
	text := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), profile["endpoint_url"], awsEndpoint)
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Path != "" && u.Path != "/" {
		return access{}, usage("the endpoint of S3 (AWS_ENDPOINT_URL) is no URL such as https://s3.example.com")
	}
	a := access{
		host: u.Host, secure: u.Scheme == "https", bundle: cmp.Or(os.Getenv("AWS_CA_BUNDLE"), profile["ca_bundle"]),
		region: cmp.Or(keys.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), profile["region"]),
	}
	if keys.Anonymous {
		a.creds = credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
		return a, nil
	}
	a.found = &named{all: chain()}
	a.creds = credentials.New(a.found)
	return a, nil
}

func (a access) endpoint() string {
	if a.secure {
		return "https://" + a.host
	}
	return "http://" + a.host
}

// which names the credentials for people, without anything of them.
func (a access) which() string {
	switch {
	case a.found == nil:
		return "no credentials, as input.s3.anonymous says"
	case a.found.at.Load() == nil:
		return "no credentials: there are none in the environment (AWS_ACCESS_KEY_ID), in a profile, or of a role of this machine"
	}
	return "the credentials of " + a.found.at.Load().name
}

// provider is a place where credentials may be.
type provider struct {
	name string
	credentials.Provider
}

// named takes the credentials of the first place that has some, and knows its name. Without any, requests are not signed.
type named struct {
	all []provider
	at  atomic.Pointer[provider] // of the credentials; nil: there are none
}

func (n *named) RetrieveWithCredContext(c *credentials.CredContext) (credentials.Value, error) {
	for i := range n.all {
		v, err := n.all[i].RetrieveWithCredContext(c)
		if err == nil && v.AccessKeyID != "" && v.SecretAccessKey != "" {
			n.at.Store(&n.all[i])
			return v, nil
		}
	}
	n.at.Store(nil)
	return credentials.Value{SignerType: credentials.SignatureAnonymous}, nil
}

func (n *named) Retrieve() (credentials.Value, error) { return n.RetrieveWithCredContext(nil) }

// IsExpired reports whether the credentials must be asked for again.
func (n *named) IsExpired() bool {
	at := n.at.Load()
	return at != nil && at.IsExpired()
}

// metadataTimeout bounds the wait for a role of this machine, which only machines of a cloud have.
const metadataTimeout = time.Second

// chain returns where credentials may be, in the order of AWS's tools.
func chain() []provider {
	all := []provider{{"the environment", &credentials.EnvAWS{}}}
	if file := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE"); file != "" {
		sts := os.Getenv("AWS_ENDPOINT_URL_STS")
		all = append(all, provider{"the web identity of " + file, &credentials.IAM{Endpoint: sts, Client: &http.Client{Timeout: stallTimeout}}})
	}
	all = append(all, provider{"the profile " + profileName(), &credentials.FileAWSCredentials{}})
	if cmp.Or(os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"), os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")) != "" {
		all = append(all, provider{"the role of this container", &credentials.IAM{Client: &http.Client{Timeout: stallTimeout}}})
	} else if os.Getenv("AWS_EC2_METADATA_DISABLED") != "true" {
		address := os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")
		all = append(all, provider{"the role of this machine", &credentials.IAM{Endpoint: address, Client: &http.Client{Timeout: metadataTimeout}}})
	}
	return all
}

func profileName() string { return cmp.Or(os.Getenv("AWS_PROFILE"), "default") }

// readProfile returns what the files of AWS's tools say of the profile, nothing if there are none.
func readProfile() map[string]string {
	all := map[string]string{}
	for _, file := range []struct{ variable, name, prefix string }{
		{"AWS_CONFIG_FILE", "config", "profile "}, {"AWS_SHARED_CREDENTIALS_FILE", "credentials", ""},
	} {
		path := os.Getenv(file.variable)
		if home, err := os.UserHomeDir(); path == "" && err == nil {
			path = filepath.Join(home, ".aws", file.name)
		}
		section := file.prefix + profileName()
		if profileName() == "default" {
			section = "default"
		}
		text, err := ini.Load(path)
		if err != nil {
			continue
		}
		for _, name := range []string{"region", "endpoint_url", "ca_bundle"} {
			if v := text.Section(section).Key(name).String(); v != "" {
				all[name] = v
			}
		}
	}
	return all
}
