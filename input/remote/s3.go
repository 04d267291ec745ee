package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// s3Source asks one endpoint of S3.
type s3Source struct {
	client minio.Core
	access access
}

func newS3(keys S3) (*s3Source, error) {
	a, err := findAccess(keys)
	if err != nil {
		return nil, err
	}
	lookup := minio.BucketLookupAuto
	if keys.PathStyle {
		lookup = minio.BucketLookupPath
	}
	transport, err := newTransport(a.bundle)
	if err != nil {
		return nil, err
	}
	client, err := minio.NewCore(a.host, &minio.Options{
		Creds: a.creds, Secure: a.secure, Region: a.region, BucketLookup: lookup, Transport: transport, MaxRetries: 1,
	})
	if err != nil {
		return nil, usage("AWS_ENDPOINT_URL: %w", err)
	}
	return &s3Source{*client, a}, nil
}

// list returns the objects that a name means: the one with this key, or those below it, or those of a pattern.
func (s *s3Source) list(ctx context.Context, store *Store, name string) ([]*object, error) {
	bucket, key, err := bucketKey(name)
	if err != nil {
		return nil, err
	}
	folder, rest := input.SplitPattern(key)
	if !strings.HasSuffix(key, "/") && key != "" { // a key may look like a pattern
		o, err := s.stat(ctx, store, bucket, key)
		if o != nil || err != nil {
			return []*object{o}, err
		}
	}
	if folder = strings.TrimSuffix(folder, "/"); folder != "" {
		folder += "/"
	}
	all, err := s.below(ctx, store, bucket, folder)
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(all))
	byPath := make(map[string]*object, len(all))
	for i, o := range all {
		paths[i] = strings.TrimPrefix(o.key, folder)
		byPath[paths[i]] = o
	}
	chosen, err := input.Choose("s3://"+bucket+"/"+folder, rest, paths)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 {
		return nil, exitcode.With(exitcode.NoInput, fmt.Errorf("no input file %s: %s has no object of this name, and none below it that counts", name, s.access.endpoint()))
	}
	all = all[:0]
	for _, p := range chosen {
		all = append(all, byPath[p])
	}
	return all, nil
}

// stat returns the object of a key, nil if there is none.
func (s *s3Source) stat(ctx context.Context, store *Store, bucket, key string) (*object, error) {
	var o *object
	err := store.retry(ctx, "input: s3://"+bucket+"/"+key, func(g *guard) (int64, error) {
		info, err := s.client.StatObject(g.ctx, bucket, key, minio.StatObjectOptions{})
		if code := minio.ToErrorResponse(err); code.StatusCode == http.StatusNotFound && code.Code != minio.NoSuchBucket {
			return 0, nil
		}
		if err == nil {
			info.Key = key
			o = s.object(bucket, info)
		}
		return 0, s.fault(err)
	})
	return o, err
}

// below lists the objects whose keys begin with a prefix.
func (s *s3Source) below(ctx context.Context, store *Store, bucket, prefix string) ([]*object, error) {
	var all []*object
	last := ""
	err := store.retry(ctx, "input: s3://"+bucket+"/"+prefix, func(g *guard) (int64, error) {
		gained := int64(0)
		for info := range s.client.ListObjectsIter(g.ctx, bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true, StartAfter: last}) {
			if info.Err != nil {
				return gained, s.fault(info.Err)
			}
			g.timer.Reset(stallTimeout)
			all, last, gained = append(all, s.object(bucket, info)), info.Key, gainBytes
		}
		return gained, g.ctx.Err() // which ends a listing without an error
	})
	return all, err
}

func (s *s3Source) object(bucket string, info minio.ObjectInfo) *object {
	url := "s3://" + bucket + "/" + info.Key
	return &object{
		url: url, id: s.access.endpoint() + " " + url, path: safePath("s3/" + bucket + "/" + info.Key), key: info.Key,
		etag: etagOf(info), tag: info.ETag, size: max(info.Size, -1), time: info.LastModified, from: s, whole: info.Size < 0,
	}
}

// etagOf returns the ETag of an object, or its date, as a few servers have none.
func etagOf(info minio.ObjectInfo) string {
	return cmp.Or(info.ETag, info.LastModified.UTC().Format(http.TimeFormat))
}

// open is that of source.
func (s *s3Source) open(ctx context.Context, o *object, from, to int64) (io.ReadCloser, error) {
	var options minio.GetObjectOptions
	var err error
	if !o.whole {
		err = options.SetRange(from, to-1)
	}
	if o.tag != "" {
		err = errors.Join(err, options.SetMatchETag(o.tag))
	}
	if err != nil {
		return nil, err
	}
	bucket, _, _ := strings.Cut(strings.TrimPrefix(o.url, "s3://"), "/")
	body, info, header, err := s.client.GetObject(ctx, bucket, o.key, options)
	if err != nil {
		return nil, s.fault(err)
	}
	if etagOf(info) != o.etag || !isRange(header.Get("Content-Range"), from, to, o.size) && (from != 0 || to != o.size) {
		body.Close()
		return nil, exitcode.With(exitcode.BadData, errChanged)
	}
	return body, nil
}

// fault gives an error of the server its code, if another try does not mend it.
func (s *s3Source) fault(err error) error {
	if err == nil {
		return nil
	}
	r := minio.ToErrorResponse(err)
	told := fmt.Errorf("%d %s", r.StatusCode, phrase.Foreign(r.Code+": "+r.Message, maxWords))
	switch {
	case r.StatusCode == http.StatusPreconditionFailed:
		return exitcode.With(exitcode.BadData, errChanged)
	case r.StatusCode == http.StatusNotFound:
		return exitcode.With(exitcode.NoInput, fmt.Errorf("%w; asked %s", told, s.access.endpoint()))
	case r.StatusCode == http.StatusForbidden, r.StatusCode == http.StatusUnauthorized, r.Code == "ExpiredToken", r.Code == "InvalidToken":
		return exitcode.With(exitcode.Auth, fmt.Errorf("%w; asked %s with %s", told, s.access.endpoint(), s.access.which()))
	case isRefusal(r.StatusCode):
		return exitcode.With(exitcode.IO, told)
	case r.StatusCode != 0:
		return told
	}
	return plain(err)
}

// maxWords is how much of a server's words a message has.
const maxWords = 200

// isRefusal reports whether a status is of a request that a further try does not mend.
func isRefusal(status int) bool {
	return status >= 300 && status < 500 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests
}
