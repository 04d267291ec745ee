package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// TestInteropObjects verifies with real servers of S3, versitygw and moto, that a job trains on objects to the digest of local
// files, that odd keys are read, that a folder of images is found, and the codes of a wrong secret and of names without objects.
func TestInteropObjects(t *testing.T) {
	if os.Getenv("INTEROP") == "" {
		t.Skip("set INTEROP=1 to read objects of versitygw and moto")
	}
	parts := lakeRows()
	near := newBox(t)
	near.write("data/part=0/x.csv", parts[0])
	near.write("data/part=1/x.csv", parts[1])
	near.write("job.yaml", lakeJob)
	want := near.must(0, "run", "-np", "2", "job.yaml", "--json").digest(t)
	for _, server := range []struct {
		name, program string
		args          func(port int, dir string) []string
		checks        bool // secrets
	}{
		{"versitygw", os.Getenv("VERSITYGW"), func(port int, dir string) []string {
			return []string{"--port", fmt.Sprintf("127.0.0.1:%d", port), "--quiet", "posix", "--sidecar", filepath.Join(dir, "meta"), filepath.Join(dir, "root")}
		}, true},
		{"moto", os.Getenv("MOTO_SERVER"), func(port int, _ string) []string { return []string{"-H", "127.0.0.1", "-p", fmt.Sprint(port)} }, false},
	} {
		t.Run("server="+server.name, func(t *testing.T) {
			b := newBox(t)
			b.write("job.yaml", lakeJob)
			for _, dir := range []string{"meta", "root"} {
				if err := os.Mkdir(b.path(dir), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			port := freePorts(t, 1)[0]
			address := fmt.Sprintf("127.0.0.1:%d", port)
			b.with("ROOT_ACCESS_KEY=AKIDlake", "ROOT_SECRET_KEY="+secretKey).startProgram(server.program, server.args(port, b.dir)...)
			eventually(t, patience, "the server listens", func() bool {
				c, err := net.Dial("tcp", address)
				if err == nil {
					c.Close()
				}
				return err == nil
			})
			client, err := minio.New(address, &minio.Options{Creds: credentials.NewStaticV4("AKIDlake", secretKey, ""), Region: "us-east-1"})
			if err != nil {
				t.Fatal(err)
			}
			if err := client.MakeBucket(t.Context(), "lake", minio.MakeBucketOptions{}); err != nil {
				t.Fatal(err)
			}
			odd := []string{"odd/a b+c&d=e?f.csv", "odd/100%25.csv", "odd/ä ö.csv", "odd/#x;y.csv"}
			all := map[string]string{"data/part=0/x.csv": parts[0], "data/part=1/x.csv": parts[1], "data/_SUCCESS": ""}
			for _, key := range odd {
				all[key] = "y,n,city\n1,2,a\n"
			}
			for key, text := range all {
				if _, err := client.PutObject(t.Context(), "lake", key, strings.NewReader(text), int64(len(text)), minio.PutObjectOptions{}); err != nil {
					t.Fatalf("%s: %v", key, err)
				}
			}
			far := b.with("AWS_ENDPOINT_URL=http://"+address, "AWS_ACCESS_KEY_ID=AKIDlake", "AWS_SECRET_ACCESS_KEY="+secretKey, "AWS_EC2_METADATA_DISABLED=true")
			if got := far.must(0, "run", "-np", "2", "job.yaml", "--json", "--set", "input.train.files=s3://lake/data").digest(t); got != want {
				t.Errorf("digest %s, want that of local files, %s", got, want)
			}
			for _, key := range odd {
				if e := far.run("data", "cat", "s3://lake/"+key, "--format", "csv"); e.code != 0 || !strings.Contains(e.stdout, `"city":"a"`) {
					t.Errorf("%s: ended with %d: %s", key, e.code, e.stderr)
				}
			}
			far.must(66, "data", "cat", "s3://lake/none.csv")
			far.must(66, "data", "cat", "s3://lake/none/*.csv")
			far.must(66, "data", "cat", "s3://no-such-bucket/x.csv")
			if server.checks {
				e := far.with("AWS_SECRET_ACCESS_KEY=wrong"+secretKey).must(77, "data", "cat", "s3://lake/data/part=0/x.csv")
				if !strings.Contains(e.stderr, "; asked http://"+address+" with the credentials of the environment") || strings.Contains(e.stderr, secretKey) {
					t.Errorf("a wrong secret: %s", e.stderr)
				}
			}
		})
	}
}
