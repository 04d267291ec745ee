"""Makes images and what Pillow makes of them (made with Pillow 13.0.0, libjpeg-turbo 3.2.0,
simplejpeg 1.9.0): NAME.png or .jpg
is the image, NAME.WIDTHxHEIGHTxCHANNELS.RESIZE.png what it becomes, RESIZE being the
shorter side before the centre is cropped.

    python make_golden.py FOLDER
"""

import os
import sys

import numpy as np
import simplejpeg
from PIL import Image

folder = sys.argv[1]
random = np.random.default_rng(20261123)


def noise(height, width, channels):
    return random.integers(0, 256, (height, width, channels), np.uint8).squeeze()


def smooth(height, width):
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([x * 255 // width, y * 255 // height, (x + y) * 255 // (width + height)], axis=2).astype(np.uint8)


def golden(name, image, cases):
    """Writes the image and what it becomes."""
    read = Image.open(os.path.join(folder, name))
    for width, height, channels, shorter in cases:
        grey = read.convert("RGB") if channels == 3 else read.convert("RGB").convert("L")
        w, h = read.size
        size = (shorter, h * shorter // w) if w <= h else (w * shorter // h, shorter)
        left, top = (size[0] - width) // 2, (size[1] - height) // 2
        out = grey.resize(size, Image.Resampling.BILINEAR).crop((left, top, left + width, top + height))
        out.save(os.path.join(folder, "%s.%dx%dx%d.%d.png" % (name, width, height, channels, shorter)), optimize=True)


def make(name, image, cases, **options):
    image.save(os.path.join(folder, name), **options)
    golden(name, image, cases)


make("colour.png", Image.fromarray(noise(23, 37, 3)), [(8, 8, 3, 8), (7, 5, 1, 9), (30, 20, 3, 30), (23, 23, 3, 23)])
make("grey.png", Image.fromarray(noise(50, 9, 1)), [(6, 6, 1, 6), (9, 11, 3, 12)])
make("alpha.png", Image.fromarray(noise(16, 16, 4), "RGBA"), [(5, 5, 3, 6)])
make("palette.png", Image.fromarray(noise(20, 12, 3)).quantize(16), [(4, 6, 3, 7)])
make("smooth.jpg", Image.fromarray(smooth(40, 64)), [(16, 16, 3, 16), (20, 24, 1, 32)], quality=92)


def chroma(name, width, height, sampling):
    """Writes a JPEG with the given sampling of chroma, and its pixels as Pillow decodes them."""
    random = np.random.default_rng(width * 1000 + height)
    blocks = random.integers(0, 256, (height // 3 + 1, width // 3 + 1, 3), np.uint8)
    pixels = np.ascontiguousarray(blocks.repeat(3, 0).repeat(3, 1)[:height, :width])
    with open(os.path.join(folder, name), "wb") as f:
        f.write(simplejpeg.encode_jpeg(pixels, quality=95, colorsubsampling=sampling))
    Image.open(os.path.join(folder, name)).convert("RGB").save(os.path.join(folder, name + ".png"), optimize=True)


for sampling in ("420", "422", "440", "411"):
    for width, height in ((4, 3), (5, 2), (37, 29)):
        chroma("chroma%s_%dx%d.jpg" % (sampling, width, height), width, height, sampling)
