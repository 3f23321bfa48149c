"""``python -m triarena.cli``: the console script, where the scripts' folder is not on the path."""

from . import main

if __name__ == "__main__":
    main(prog_name="triarena")
