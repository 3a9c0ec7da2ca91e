# What the stages need, and nothing of the project: its folder is mounted where they run (docs/running.md). `--build-arg TORCH=cuda`
# has PyTorch's CUDA libraries in it, for `docker run --gpus all`.
FROM python:3.11-slim
ARG TORCH=cpu

RUN apt-get update && apt-get install --yes --no-install-recommends git && rm -rf /var/lib/apt/lists/*
COPY requirements.lock requirements.txt /opt/nads/
# PyTorch without CUDA is in an index of its own, so it has no hashes in the lock.
RUN cd /opt/nads && case "$TORCH" in \
    cuda) pip install --no-cache-dir --require-hashes -r requirements.lock ;; \
    cpu) grep -E '^torch(vision)?==' requirements.txt > torch.txt \
        && pip install --no-cache-dir --index-url https://download.pytorch.org/whl/cpu -r torch.txt \
        && pip install --no-cache-dir -r requirements.txt ;; \
    *) echo "TORCH is $TORCH; it must be cpu or cuda" >&2; exit 1 ;; \
    esac

# The user who runs it may have no home folder in here.
ENV HOME=/tmp
WORKDIR /project
