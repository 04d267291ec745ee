package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Media types of the OCI image specification, version 1.
const (
	mediaIndex    = "application/vnd.oci.image.index.v1+json"
	mediaManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaConfig   = "application/vnd.oci.image.config.v1+json"
	mediaLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// A descriptor names a blob of an image by its digest.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// image returns an OCI layout as a .tar, which docker load, podman load and skopeo read. Its
// only layer has the binary and an empty /tmp: the image is built from nothing.
func image(version string, binaries map[string][]byte, at time.Time) ([]byte, error) {
	var files []file
	blob := func(media string, data []byte) descriptor {
		sum := sha256.Sum256(data)
		name := hex.EncodeToString(sum[:])
		files = append(files, file{"blobs/sha256/" + name, 0o644, data})
		return descriptor{MediaType: media, Digest: "sha256:" + name, Size: len(data)}
	}
	var manifests []descriptor
	for _, arch := range architectures {
		content := []file{{"ringtrain", 0o755, binaries[arch]}, {"tmp/", 0o1777, nil}}
		plain, err := archive(content, "", at)
		if err != nil {
			return nil, err
		}
		packed, err := squeezed(plain)
		if err != nil {
			return nil, err
		}
		plainSum := sha256.Sum256(plain)
		config, err := json.Marshal(map[string]any{
			"architecture": arch, "os": "linux", "created": at.Format(time.RFC3339),
			"config": map[string]any{
				"Entrypoint": []string{"/ringtrain"}, "Env": []string{"PATH=/", "HOME=/tmp"},
				"Labels": map[string]string{"org.opencontainers.image.version": version, "org.opencontainers.image.title": "ringtrain"},
			},
			"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(plainSum[:])}},
			"history": []map[string]any{{"created": at.Format(time.RFC3339), "created_by": "make release"}},
		})
		if err != nil {
			return nil, err
		}
		manifest, err := json.Marshal(map[string]any{
			"schemaVersion": 2, "mediaType": mediaManifest,
			"config": blob(mediaConfig, config), "layers": []descriptor{blob(mediaLayer, packed)},
		})
		if err != nil {
			return nil, err
		}
		d := blob(mediaManifest, manifest)
		d.Platform = &platform{arch, "linux"}
		manifests = append(manifests, d)
	}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": mediaIndex, "manifests": manifests})
	if err != nil {
		return nil, err
	}
	top := blob(mediaIndex, index)
	top.Annotations = map[string]string{"org.opencontainers.image.ref.name": version}
	layout, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": mediaIndex, "manifests": []descriptor{top}})
	if err != nil {
		return nil, err
	}
	files = append(files, file{"index.json", 0o644, layout}, file{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)})
	return archive(files, "", at)
}
