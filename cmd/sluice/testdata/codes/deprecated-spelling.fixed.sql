SET 'execution.checkpointing.dir' = '/var/lib/sluice/orders';
