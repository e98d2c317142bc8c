#!/usr/bin/env python3
"""Decodes the video of OpenCV's samples: video_to_pictures.py VIDEO FOLDER

FOLDER/video gets its frames as JPEG, 0000.jpg and so on. FOLDER/people gets some of its people, cut out along their
outline, as PAM with transparency: the drawn world shows them as obstacles.
"""

import sys
from pathlib import Path

import cv2
import numpy as np

QUALITY = 90
# Frame and box of people whom the detector finds at every distance up to 20 m when they stand on a drawn road.
PEOPLE = [(750, (235, 210, 36, 96)), (390, (630, 282, 49, 112)), (240, (443, 247, 37, 110)), (330, (356, 171, 40, 90))]
MARGIN = 4
# A pixel that differs by more from the empty place is of the person.
DIFFERS = 40


def cut_out(frame: np.ndarray, empty: np.ndarray, box: tuple[int, int, int, int]) -> np.ndarray:
    """The largest part of the box that differs from the empty place, with the parts around it transparent."""
    x, y, width, height = box
    part = np.s_[y - MARGIN : y + height + MARGIN, x - MARGIN : x + width + MARGIN]
    differs = np.abs(frame[part].astype(int) - empty[part]).max(axis=2) > DIFFERS
    mask = differs.astype(np.uint8) * 255
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((5, 5)))
    mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((3, 3)))
    _, labels, facts, _ = cv2.connectedComponentsWithStats(mask)
    largest = 1 + int(facts[1:, cv2.CC_STAT_AREA].argmax())
    left, top, width, height = facts[largest, :4]
    inside = np.s_[top : top + height, left : left + width]
    alpha = cv2.GaussianBlur(np.where(labels == largest, 255, 0).astype(np.uint8), (3, 3), 0)
    return np.dstack([frame[part][inside], alpha[inside]])


def write_pam(path: Path, picture: np.ndarray):
    height, width, _ = picture.shape
    head = f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
    path.write_bytes(head.encode() + np.ascontiguousarray(picture[:, :, [2, 1, 0, 3]]).tobytes())


def main():
    video, folder = cv2.VideoCapture(sys.argv[1]), Path(sys.argv[2])
    (folder / "video").mkdir(parents=True)
    (folder / "people").mkdir()
    frames = []
    while True:
        is_there, frame = video.read()
        if not is_there:
            break
        frames.append(frame)
    if len(frames) <= max(frame for frame, _ in PEOPLE):
        raise SystemExit(f"{sys.argv[1]}: found {len(frames)} frames, expected about 795")
    for index, frame in enumerate(frames):
        cv2.imwrite(str(folder / f"video/{index:04}.jpg"), frame, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    empty = np.median(np.stack(frames[::16]), axis=0).astype(np.uint8)
    for index, (frame, box) in enumerate(PEOPLE):
        write_pam(folder / f"people/{index}.pam", cut_out(frames[frame], empty, box))


if __name__ == "__main__":
    main()
