import { program } from './uploads.ts'
import { short } from '../short.ts'

await short('uploads', program)
