"""What alembic runs to migrate: on the connection and in the transaction that ``journal.schema`` hands over.

Logging is not configured here: it is the server's.
"""

from alembic import context

from triarena.server.journal.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
